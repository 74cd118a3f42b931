#include <fmt/format.h>

#include "cli/check/checks.hpp"
#include "cli/check/child.hpp"
#include "cli/installation.hpp"
#include "cli/launching/launch.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

bool resolves(Findings& findings, const fs::path& library) {
  std::string why;
  const auto libraries = libraries_of(library, why);
  std::string missing;
  if (libraries) {
    for (const LoadedLibrary& needed : *libraries) {
      if (needed.path.empty()) missing = needed.name;
    }
    if (missing.empty()) return true;
    why = missing + " is not found";
  }
  findings.problem(kLibraryNotLoaded,
                   {.found = library.string() + " cannot be loaded",
                    .why = why,
                    .fix = "build uctrace on this machine, or one with the same C library: "
                           "meson setup build && ninja -C build"});
  return false;
}

// The dynamic linker complains on standard error and goes on without: only a trial shows it.
bool is_preloaded(Findings& findings, const fs::path& library) {
  const ChildResult tried = run_child({own_program().string(), "version"},
                                      {.environment = {{"LD_PRELOAD", library.string()}}});
  if (tried.good() && tried.err.find("cannot be preloaded") == std::string::npos) return true;
  findings.problem(
      kLibraryNotLoaded,
      {.found = library.string() + " cannot be preloaded",
       .why = tried.err.empty()
                  ? fmt::format("a program with it ended with status {}", tried.status)
                  : lines_of(tried.err).front(),
       .fix = "put uctrace on a file system that is not mounted noexec: meson install -C build "
              "--destdir FOLDER"});
  return false;
}

}  // namespace

fs::path check_library(Findings& findings, const fs::path& scratch) {
  fs::path library;
  try {
    library = find_preload_library();
  } catch (const Error& error) {
    findings.problem(kLibraryMissing, {.found = "there is no libuctrace.so",
                                       .why = error.problem().why,
                                       .fix = "ninja -C build, or meson install -C build"});
    return {};
  }
  fs::path loaded;
  try {
    loaded = preloadable(library, {scratch});
  } catch (const Error& error) {
    findings.problem(kLibraryPath,
                     {.found = library.string() + " has a space or colon in its path",
                      .why = "LD_PRELOAD takes no such path, and TMPDIR cannot hold a link to it",
                      .fix = "export TMPDIR=/tmp, or another folder without them"});
    return {};
  }
  if (!resolves(findings, library) || !is_preloaded(findings, loaded)) return {};
  findings.ok("library",
              library.string() + (loaded == library ? " loads" : " loads, through a link"));
  return loaded;
}

}  // namespace uctrace::cli::check
