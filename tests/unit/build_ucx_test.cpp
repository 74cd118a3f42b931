// How `uctrace build-ucx` reads texts: of ucx_info, configure, patch and apt's lists.
#include <doctest/doctest.h>

#include "cli/build_ucx/configuration.hpp"
#include "cli/build_ucx/patching.hpp"
#include "cli/build_ucx/resources.hpp"
#include "cli/build_ucx/source_list.hpp"
#include "cli/build_ucx/supported.hpp"
#include "ucx-facts/library_names.hpp"

using namespace uctrace::cli::build_ucx;

TEST_CASE("ucx_info -v of each form: version and options") {
  const UcxInfo oldest = parse_ucx_info(
      "# UCT version=1.12.1 revision 0000000\n# configured with: --disable-logging --enable-mt\n");
  CHECK(oldest.version == "1.12.1");
  CHECK(oldest.options == Words{"--disable-logging", "--enable-mt"});
  const UcxInfo old = parse_ucx_info(
      "# Version 1.13.1\n# Git branch '<unknown>', revision 0000000\n"
      "# Configured with: --build=x86_64-linux-gnu --prefix=/usr --enable-mt --with-verbs\n");
  CHECK(old.version == "1.13.1");
  CHECK(old.options ==
        Words{"--build=x86_64-linux-gnu", "--prefix=/usr", "--enable-mt", "--with-verbs"});
  const UcxInfo recent = parse_ucx_info(
      "# Library version: 1.22.0\n# Library path: /opt/lib/libucs.so.0\n"
      "# API headers version: 1.22.0\n# Git branch '', revision \n"
      "# Configured with: --disable-logging CFLAGS=-O2 -g -march=native --with-cuda=/usr/local\n");
  CHECK(recent.version == "1.22.0");
  CHECK(recent.options ==
        Words{"--disable-logging", "CFLAGS=-O2 -g -march=native", "--with-cuda=/usr/local"});
  CHECK(parse_ucx_info("").version.empty());
  CHECK(parse_ucx_info("ucx_info: no such option\n").options.empty());
}

TEST_CASE("the version of sources, and which are patched") {
  const auto old = parse_version(
      "define([ucx_ver_major], 1)\ndefine([ucx_ver_minor], 12)\ndefine([ucx_ver_patch], 1)\n");
  REQUIRE(old);
  CHECK(old->text() == "1.12.1");
  CHECK(is_patchable(*old));
  const auto recent = parse_version(
      "define([ucx_ver_major], 1)  # Major\ndefine([ucx_ver_minor], 22) # Minor\n"
      "define([ucx_ver_patch], 0)  # Patch\ndefine([ucx_ver_extra], )\n");
  REQUIRE(recent);
  CHECK(recent->text() == "1.22.0");
  CHECK(is_patchable(*recent));
  REQUIRE(parse_release("1.18.1+ds-2"));
  CHECK(parse_release("1.18.1+ds-2")->text() == "1.18.1");
  CHECK_FALSE(parse_release("44.0-2"));
  CHECK_FALSE(is_patchable({1, 11, 2}));
  CHECK_FALSE(is_patchable({1, 24, 0}));
  CHECK_FALSE(is_patchable({2, 12, 0}));
  CHECK_FALSE(parse_version("AC_INIT([other], [1.0])"));
  CHECK_FALSE(parse_version("define([ucx_ver_major], 99999999999999999999)"));
}

TEST_CASE("options of a site's package: what builds UCX stays, where it was put goes") {
  const Taken taken = options_for_here(
      {"--build=x86_64-linux-gnu", "--prefix=/usr", "--includedir=${prefix}/include",
       "--libdir=${prefix}/lib", "--runstatedir=/run", "--disable-maintainer-mode",
       "--disable-option-checking", "--enable-examples", "--without-java", "--enable-mt",
       "--with-verbs", "--disable-logging", "--with-cuda=/nonexistent/cuda", "CFLAGS=-O2 -g",
       "--with-knem=/usr", "--with-soname-suffix=one", "--enable-module-deepbind", "stray"});
  CHECK(taken.options == Words{"--enable-mt", "--with-verbs", "--disable-logging", "CFLAGS=-O2 -g",
                               "--with-knem=/usr", "--with-soname-suffix=one",
                               "--enable-module-deepbind"});
  REQUIRE(taken.dropped.size() == 1);
  CHECK(taken.dropped[0].option == "--with-cuda=/nonexistent/cuda");
  CHECK(taken.dropped[0].why == "/nonexistent/cuda is not on this machine");
}

TEST_CASE("the option that a failed configure complains of") {
  const Words options = {"--enable-mt",    "--without-rdmacm", "--with-go",    "--with-cuda=/usr",
                         "--with-gdrcopy", "--with-fuse3",     "--with-rdmacm"};
  const auto option_of = [&](const std::string& message) -> std::string {
    const Complaint complaint =
        complaint_in("checking for x... no\nconfigure: error: " + message + "\n", options);
    CHECK(complaint.message == message);
    return complaint.option ? options[*complaint.option] : "";
  };
  CHECK(option_of("CUDA support is requested but cuda packages cannot be found") ==
        "--with-cuda=/usr");
  CHECK(option_of("libnvidia-ml not found. Install appropriate nvidia-driver package") ==
        "--with-cuda=/usr");
  CHECK(option_of("gdrcopy support is requested but gdrcopy packages cannot be found") ==
        "--with-gdrcopy");
  CHECK(option_of("FUSEv3 requested but could not be found") == "--with-fuse3");
  CHECK(option_of("GO support was explicitly requested, but go compiler not found.") ==
        "--with-go");
  CHECK(option_of("RDMACM requested but librdmacm is not found") == "--with-rdmacm");
  CHECK(option_of("Cannot continue. Please install C++ compiler.") == "");
  CHECK_FALSE(complaint_in("all is well\n", options).option);
}

TEST_CASE("options that configure passes over in silence") {
  const std::string output =
      "configure: WARNING: unrecognized options: --disable-backtrace-detail, --enable-old\n"
      "checking infiniband/verbs.h usability... no\n"
      "configure: WARNING: ibverbs header files not found\n"
      "configure:          UCT modules:   < cma >\n"
      "configure:         CUDA modules:   < >\n";
  const std::vector<Dropped> dropped =
      left_out(output, {"--disable-backtrace-detail", "--enable-mt", "--with-verbs", "--enable-cma",
                        "--without-knem", "--with-xpmem", "--with-knem=guess", "--with-rocm=no"});
  REQUIRE(dropped.size() == 3);
  CHECK(dropped[0].option == "--disable-backtrace-detail");
  CHECK(dropped[0].why == "this UCX has no such option");
  CHECK(dropped[1].option == "--with-verbs");
  CHECK(dropped[1].why == "ibverbs header files not found");
  CHECK(package_for(dropped[1].why) == "libibverbs-dev");
  CHECK(dropped[2].option == "--with-xpmem");
  CHECK(dropped[2].why == "configure found nothing of it");
}

TEST_CASE("packages that errors ask for") {
  CHECK(package_for("uct.c:1: fatal error: infiniband/verbs.h: No such file") == "libibverbs-dev");
  CHECK(package_for("error: possibly undefined macro: AC_PROG_LIBTOOL") == "libtool");
  CHECK(package_for("fatal error: numa.h: No such file or directory") == "libnuma-dev");
  CHECK(package_for("Segmentation fault") == "");
}

TEST_CASE("transports and devices of ucx_info -d, and how two UCX differ") {
  const std::string output =
      "# Memory domain: tcp\n#     Component: tcp\n#             register: unlimited\n"
      "#      Transport: tcp\n#         Device: lo\n#           Type: network\n"
      "#  System device: <unknown>\n#      Transport: tcp\n#         Device: eth0\n"
      "#           connection: to ep, to iface\n# Connection manager: tcp\n"
      "# < failed to open connection manager rdmacm >\n"
      "# Memory domain: mlx5_0\n#     Component: ib\n#      Transport: rc_mlx5\n"
      "#         Device: mlx5_0:1\n"
      "# Memory domain: knem\n#     Component: knem\n#   < no supported devices found >\n";
  const Resources before = parse_resources(output);
  CHECK(before == Resources{"connections by rdmacm", "connections by tcp", "knem",
                            "rc_mlx5/mlx5_0:1", "tcp/eth0", "tcp/lo"});
  const ResourceChange change = compare(before, {"tcp/eth0", "tcp/lo", "cma/memory"});
  CHECK(change.same == Resources{"tcp/eth0", "tcp/lo"});
  CHECK(change.missing ==
        Resources{"connections by rdmacm", "connections by tcp", "knem", "rc_mlx5/mlx5_0:1"});
  CHECK(change.added == Resources{"cma/memory"});
  CHECK(parse_resources("").empty());
}

TEST_CASE("modules by their names, whatever suffix the site gave them") {
  using uctrace::ucx::module_name;
  for (const char* file :
       {"libuct_ib_mlx5.so", "libuct_ib_mlx5.so.0", "libuct_ib_mlx5-one.so.0.0.0"}) {
    CAPTURE(file);
    CHECK(module_name(file) == "ib_mlx5");
  }
  for (const char* file : {"libuct_cma.la", "libuct.so.0", "libucm_cuda.so.0", "libuct_.so"}) {
    CAPTURE(file);
    CHECK(module_name(file).empty());
  }
}

TEST_CASE("a list of sources keeps mirror, suites and keys") {
  CHECK(source_list_of("Types: deb\n# a comment\nURIs: http://mirror.example/debian\n"
                       "Suites: bookworm bookworm-updates\nComponents: main\n"
                       "Architectures: amd64\nSigned-By: /usr/share/keyrings/k.gpg\n\n"
                       "Enabled: no\nTypes: deb deb-src\nURIs: http://other/\n",
                       ListForm::paragraphs) ==
        "Types: deb-src\n# a comment\nURIs: http://mirror.example/debian\n"
        "Suites: bookworm bookworm-updates\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/k.gpg\n\n"
        "Enabled: no\nTypes: deb-src\nURIs: http://other/\n");
  CHECK(source_list_of("# deb http://off/ x main\n"
                       "deb http://mirror.example/ubuntu jammy main universe\n"
                       "deb [arch=amd64 signed-by=/k.gpg] http://m/ jammy main\n"
                       "deb-src http://mirror.example/ubuntu jammy main\n\n",
                       ListForm::lines) ==
        "deb-src http://mirror.example/ubuntu jammy main universe\n"
        "deb-src [signed-by=/k.gpg] http://m/ jammy main\n");
  CHECK(source_list_of("", ListForm::lines).empty());
}

TEST_CASE("hunks that do not fit are named") {
  const std::vector<std::string> hunks = hunks_that_do_not_fit(
      "checking file src/ucp/Makefile.am\nchecking file src/uct/api/uct.h\n"
      "Hunk #1 succeeded at 40 (offset 7 lines).\nHunk #3 FAILED at 2864.\n"
      "Hunk #12 FAILED at 3104.\n2 out of 31 hunks FAILED\n"
      "can't find file to patch at input line 47\nPerhaps you used the wrong -p?\n"
      "|--- a/src/ucp/proto/proto_reconfig.c\n|+++ b/src/ucp/proto/proto_reconfig.c\n"
      "No file to patch.  Skipping patch.\n");
  CHECK(hunks == std::vector<std::string>{"src/uct/api/uct.h, hunk 3", "src/uct/api/uct.h, hunk 12",
                                          "src/ucp/proto/proto_reconfig.c, which is missing"});
  CHECK(hunks_that_do_not_fit("checking file a\nHunk #1 succeeded at 4.\n").empty());
}
