// How `uctrace check` judges command lines and files, without running any other program.
#include <doctest/doctest.h>
#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "cli/check/elf_file.hpp"
#include "cli/check/finding.hpp"
#include "cli/check/target.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "ucx-facts/releases.hpp"

using namespace uctrace::cli::check;
namespace fs = std::filesystem;

namespace {

// A folder with programs of these names, alone in PATH.
class Programs {
 public:
  explicit Programs(const std::vector<std::string>& names) {
    for (const std::string& program : names) write(program, "#!/bin/sh\n");
    setenv("PATH", folder.path().c_str(), 1);
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() { setenv("PATH", before.c_str(), 1); }
  fs::path write(const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    chmod((folder / name).c_str(), 0755);
    return folder / name;
  }

  const uctrace::test::TemporaryFolder folder;
  std::string before = std::getenv("PATH");
};

std::string program_of(const std::vector<std::string>& command) {
  return find_target(command).program;
}

}  // namespace

TEST_CASE("check: the program behind launchers, their options, and wrappers") {
  Programs programs({"app", "mpirun", "mpiexec.mpich", "srun", "env", "numactl", "uctrace"});
  programs.write("mpirun", "#!/bin/sh\necho \"mpirun (Open MPI) 4.1.4\"\n");
  CHECK(program_of({"app", "--size", "4"}) == "app");
  CHECK(program_of({"mpirun", "-np", "4", "app", "mpirun"}) == "app");
  CHECK(program_of({"mpirun", "--mca", "pml", "app", "-np", "4", "app"}) == "app");
  CHECK(find_target({"mpirun", "--mca", "pml", "ucx", "app"}).mca.at("pml") == "ucx");
  CHECK(
      find_target({"mpirun", "-x", "UCX_TLS=tcp", "-x", "HOME", "app"}).environment.at("UCX_TLS") ==
      "tcp");
  CHECK(find_target({"mpiexec.mpich", "-genv", "A", "app", "app"}).environment.at("A") == "app");
  CHECK(program_of({"mpiexec.mpich", "-genv", "A", "app", "app"}) == "app");
  CHECK(find_target({"env", "UCX_TLS=tcp", "mpirun", "app"}).environment.at("UCX_TLS") == "tcp");
  CHECK(find_target({"env", "UCX_TLS=tcp", "mpirun", "app"}).launcher.word == "mpirun");
  CHECK(program_of({"mpirun", "numactl", "-N", "0", "app"}) == "app");
  CHECK(program_of({"mpirun", "-n", "2", "uctrace", "record", "-o", "run", "--", "app"}) == "app");
  const auto several = find_targets({"mpirun", "-n", "1", "app", "x", ":", "-n", "3", "srun", ":"});
  REQUIRE(several.size() == 3);
  CHECK(several[0].program == "app");
  CHECK(several[1].program == "srun");
  CHECK(several[2].program.empty());
  CHECK(find_targets({"app", ":", "srun"}).size() == 1);
  CHECK(find_targets({}).size() == 1);
  CHECK(program_of({"mpirun", "-np", "2", "./missing", "x"}) == "./missing");
  CHECK(find_target({"mpirun", "-np", "2", "./missing", "x"}).path.empty());
  CHECK(find_target({"missing"}).path.empty());
  CHECK(find_target({"mpiexec.mpich", "app"}).launcher.kind == uctrace::launcher::Kind::hydra);
  CHECK(find_target({"srun", "-n", "2", "app"}).launcher.kind == uctrace::launcher::Kind::slurm);
  CHECK(find_target({"app"}).launcher.kind == uctrace::launcher::Kind::none);
  CHECK(find_target({}).program.empty());
  CHECK(program_of({"env"}) == "env");
  CHECK(program_of({"mpirun", "--host", "app", "missing"}) == "missing");
  CHECK(program_of({"mpirun", "--no-such-option", "4", "app"}) == "app");
  CHECK(program_of({"env", "A=b", "nice", "-n", "5", "mpirun", "-np", "2", "app"}) == "app");
  CHECK(find_target({"mpirun"}).program.empty());
  CHECK(find_target({"mpirun", "--mca"}).program.empty());
}

TEST_CASE("check: kinds of files, also of those cut anywhere") {
  Programs files({});
  CHECK(look_at_file(files.folder / "none").kind == FileKind::unreadable);
  CHECK(look_at_file(files.folder.path()).kind == FileKind::unreadable);
  CHECK(look_at_file(files.write("empty", "")).kind == FileKind::other);
  CHECK(look_at_file(files.write("text", "hello")).kind == FileKind::other);
  const FileFacts script = look_at_file(files.write("script", "#! /usr/bin/env sh\necho\n"));
  CHECK(script.kind == FileKind::script);
  CHECK(script.interpreter == "/usr/bin/env sh");
  CHECK(look_at_file(files.write("magic", std::string(ELFMAG, SELFMAG))).kind ==
        FileKind::foreign_elf);

  const FileFacts own = look_at_file("/proc/self/exe");
  CHECK(own.kind == FileKind::dynamic_elf);
  CHECK(std::find(own.needed.begin(), own.needed.end(), "libc.so.6") != own.needed.end());
  CHECK(!own.defines_mpi_init);
  std::ifstream in("/bin/true", std::ios::binary);
  std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    look_at_file(files.write("cut", whole.substr(0, size)));
  }
  // Each byte of the header changed: never a crash, whatever the tables then contain.
  for (std::size_t at = 4; at < sizeof(Elf64_Ehdr); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(~changed[at]);
    look_at_file(files.write("changed", changed));
  }
}

TEST_CASE("check: the worst grade counts, and a trouble's name begins with its subject") {
  Findings findings;
  CHECK(findings.worst() == Grade::ok);
  findings.ok("clock", "good");
  findings.warning(kFolderSpace, {.found = "f", .why = "w", .fix = "x"});
  CHECK(findings.worst() == Grade::warning);
  findings.problem(kUcxMissing, {.found = "f", .why = "w", .fix = "x"});
  findings.ok("gpu", "none");
  CHECK(findings.worst() == Grade::problem);
  CHECK(findings.all()[1].subject == "folder");
  CHECK(findings.all()[2].subject == "ucx");
}

TEST_CASE("check: the releases of UCX that the shims know") {
  using uctrace::ucx::find_release;
  CHECK(find_release(1, 11) != nullptr);
  CHECK(find_release(1, 23) != nullptr);
  CHECK(find_release(1, 10) == nullptr);
  CHECK(find_release(1, 24) == nullptr);
  CHECK(find_release(2, 13) == nullptr);
}

TEST_CASE("check: a UCX with names of its own, and what is called nearly like it") {
  const auto found = [](const std::vector<std::string>& names) {
    std::vector<LoadedLibrary> libraries;
    for (const std::string& name : names) libraries.push_back({name, "/lib/" + name});
    const LoadedLibrary* const ucp = find_ucx(libraries, "libucp");
    return ucp != nullptr ? ucp->name : "";
  };
  CHECK(found({"libucs-one.so.0", "libucp-one.so.0"}) == "libucp-one.so.0");
  CHECK(found({"libucp-1a2b3c4d.so.0.0.0"}) == "libucp-1a2b3c4d.so.0.0.0");
  CHECK(found({"libucp-one.so.0", "libucp.so.0"}) == "libucp.so.0");
  CHECK(found({"libucpsolve.so.0", "libucp_solve.so.0", "libuct-one.so.0", "libucp-.so"}) == "");
}
