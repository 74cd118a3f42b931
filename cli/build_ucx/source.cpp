#include "cli/build_ucx/source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/build_ucx/package_source.hpp"
#include "cli/build_ucx/supported.hpp"
#include "cli/check/child.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigure = "configure.ac";
constexpr const char* kApi = "src/uct/api/uct.h";

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

[[noreturn]] void refuse(const fs::path& source, const std::string& why, const std::string& to_do) {
  throw Error({.what = "cannot build from " + source.string(), .why = why, .to_do = to_do});
}

constexpr int kTimeToList = 120;  // seconds, for a tarball
constexpr const char* kWhatSourceIs = "give the top folder of UCX's sources, or a tarball of them";

// Products of a build and version control: made again, or not needed.
bool is_product(const fs::directory_entry& entry) {
  constexpr std::array kNames = {".git",       ".libs",         ".deps",    "autom4te.cache",
                                 "config.log", "config.status", "config.h", "libtool",
                                 "stamp-h1",   "ucx.pc",        "modules",  "Makefile"};
  constexpr std::array kSuffixes = {".o", ".lo", ".la", ".a", ".so", ".orig", ".rej"};
  const std::string name = entry.path().filename().string();
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) {
    if (name == "Makefile") return fs::exists(entry.path().string() + ".am");
    return name != "modules" || !fs::exists(entry.path() / "Makefile.am");
  }
  const std::string suffix = entry.path().extension().string();
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

// Calls visit(entry, relative path) for all but the products.
template <typename Visit>
void for_sources(const fs::path& top, const Visit& visit) {
  for (fs::recursive_directory_iterator it(top), end; it != end; ++it) {
    if (is_product(*it)) {
      it.disable_recursion_pending();
    } else {
      visit(*it, it->path().lexically_relative(top));
    }
  }
}

std::string stamp_of(const fs::path& file) {
  struct stat facts {};
  if (lstat(file.c_str(), &facts) != 0) return "";
  return fmt::format("{} {}.{:09}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

// Names, sizes and times of all sources, as one number: after a change of any file, a build from
// the folder is a different one.
std::string fingerprint(const fs::path& folder) {
  std::vector<std::string> files;
  for_sources(folder, [&](const fs::directory_entry& entry, const fs::path& relative) {
    if (!entry.is_directory()) files.push_back(relative.string() + " " + stamp_of(entry.path()));
  });
  std::sort(files.begin(), files.end());
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const std::string& file : files) {
    for (const char c : file + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return fmt::format("{} files {:016x}", files.size(), hash);
}

void copy_folder(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for_sources(from, [&](const fs::directory_entry& entry, const fs::path& relative) {
    throw_if_interrupted();
    if (entry.is_symlink()) {
      fs::copy_symlink(entry.path(), to / relative);
    } else if (entry.is_directory()) {
      fs::create_directory(to / relative);
    } else if (entry.is_regular_file()) {
      fs::copy_file(entry.path(), to / relative);
      // Makefiles and autoconf's output are compared by time.
      fs::last_write_time(to / relative, entry.last_write_time());
    }
  });
}

std::string tar_says(const fs::path& tarball, std::vector<std::string> options) {
  options.insert(options.begin(), "tar");
  options.insert(options.begin() + 2, {"--file", tarball.string()});
  const auto result = check::run_child(
      options, {.environment = {{"LC_ALL", "C"}}, .unset = {}, .timeout_s = kTimeToList});
  const bool of_one_member = options.size() > 4;  // then its other name is missing
  if (result.good() || (of_one_member && !result.out.empty())) return result.out;
  refuse(tarball, "tar cannot read it: " + tail_of(result.err, 2),
         "see that the file is whole; tar.gz, tar.bz2 and tar.xz are read");
}

// tar refuses such names, too, but leaves what it had unpacked before.
void require_harmless(const fs::path& tarball) {
  for (const std::string& name : check::lines_of(tar_says(tarball, {"--list"}))) {
    const fs::path path(name);
    const bool leads_up = std::find(path.begin(), path.end(), fs::path("..")) != path.end();
    if (!path.is_absolute() && !leads_up) continue;
    refuse(tarball, fmt::format("it holds the path {}, which leads out of its folder", name),
           "get the tarball from where UCX is released");
  }
}

// configure.ac is in the tarball's only folder or, in an archive without prefix, at the top.
std::string configure_ac_of(const fs::path& tarball) {
  std::string found;
  for (const std::string& name : check::lines_of(tar_says(tarball, {"--list"}))) {
    const fs::path path = fs::path(name).lexically_normal();
    if (path.filename() != kConfigure || std::distance(path.begin(), path.end()) > 2) continue;
    return tar_says(tarball, {"--extract", "--to-stdout", name});
  }
  refuse(tarball, "it holds no configure.ac, so it is no source of UCX", kWhatSourceIs);
}

void unpack_tarball(const fs::path& tarball, const fs::path& folder, const fs::path& scratch,
                    Log& log) {
  const StepResult result =
      log.run({.words = {"tar", "--extract", "--no-same-owner", "--file", tarball.string()},
               .folder = scratch,
               .environment = {{"LC_ALL", "C"}}});
  if (result.status != 0) {
    refuse(tarball, "tar cannot unpack it: " + tail_of(result.output, 1),
           "see that the file is whole");
  }
  if (fs::exists(scratch / kConfigure)) return fs::rename(scratch, folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch)) {
    if (entry.is_symlink() || !fs::exists(entry.path() / kConfigure)) continue;
    return fs::rename(entry.path(), folder);
  }
}

Source existing_source(const fs::path& given) {
  std::error_code error;
  Source source{.path = fs::absolute(given).lexically_normal(),
                .package = {},
                .package_version = {},
                .identity = {},
                .version = {}};
  if (!fs::exists(source.path, error)) {
    refuse(given, error ? error.message() : "there is no such file or folder", kWhatSourceIs);
  }
  if (fs::is_regular_file(source.path)) {
    source.kind = Source::Kind::tarball;
    source.identity = stamp_of(source.path);
    require_harmless(source.path);
    source.version = require_patchable(configure_ac_of(source.path), given.string());
    return source;
  }
  if (!fs::is_directory(source.path)) {
    refuse(given, "it is neither a folder nor a file", kWhatSourceIs);
  }
  if (!fs::exists(source.path / kConfigure) || !fs::exists(source.path / kApi)) {
    refuse(given, fmt::format("there is no {} or {} in it", kConfigure, kApi), kWhatSourceIs);
  }
  source.version = require_patchable(read_text(source.path / kConfigure), given.string());
  source.identity = fingerprint(source.path);
  return source;
}

}  // namespace

std::string Source::name() const {
  return kind == Kind::package ? fmt::format("package {} {}", package, package_version)
                               : path.string();
}

Source find_source(const fs::path& given) {
  return given.empty() ? package_of_installed_ucx() : existing_source(given);
}

void unpack(const Source& source, const fs::path& folder, const fs::path& scratch, Log& log) {
  switch (source.kind) {
    case Source::Kind::folder:
      return copy_folder(source.path, folder);
    case Source::Kind::tarball:
      return unpack_tarball(source.path, folder, scratch, log);
    case Source::Kind::package:
      return unpack_package(source.package, source.package_version, folder, scratch, log);
  }
}

UcxVersion require_patchable(const std::string& configure_ac, const std::string& name) {
  const std::optional<UcxVersion> version = parse_version(configure_ac);
  if (!version) refuse(name, "its configure.ac does not say which UCX it is", kWhatSourceIs);
  return require_patchable(*version, name);
}

UcxVersion require_patchable(const UcxVersion& version, const std::string& name) {
  if (is_patchable(version)) return version;
  const ucx::Release* const known = ucx::find_release(version.major, version.minor);
  refuse(name,
         fmt::format("it is UCX {}, and the patch is made for UCX {}", version.text(),
                     patchable_versions()),
         known != nullptr ? "record it without a rebuild, by plain `uctrace record`"
                          : "take another UCX, or another version of uctrace");
}

}  // namespace uctrace::cli::build_ucx
