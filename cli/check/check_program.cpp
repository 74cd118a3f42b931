#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "cli/check/checks.hpp"
#include "cli/check/child.hpp"
#include "log-merger/folder/launcher_line.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

// Why the dynamic linker would ignore LD_PRELOAD for this file, empty if it would not.
std::string privilege_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  if ((status.st_mode & S_ISUID) != 0) return "set-uid";
  if ((status.st_mode & S_ISGID) != 0) return "set-gid";
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) return "given capabilities";
  return "";
}

void check_privilege(Findings& findings, const fs::path& path) {
  const std::string privilege = privilege_of(path);
  if (privilege.empty()) return;
  const std::string word = shell_word(path.string());
  findings.problem(
      kProgramPrivileged,
      {.found = fmt::format("{} is {}", path.string(), privilege),
       .why = "the dynamic linker ignores LD_PRELOAD for such a program: it would not be recorded",
       .fix = fmt::format("record a copy without that: cp --no-preserve=mode {} copy && chmod u+x "
                          "copy",
                          word)});
}

void check_missing_libraries(Findings& findings, const fs::path& path,
                             const std::vector<LoadedLibrary>& libraries) {
  std::vector<std::string> missing;
  for (const LoadedLibrary& library : libraries) {
    if (library.path.empty()) missing.push_back(library.name);
  }
  if (missing.empty()) return;
  findings.problem(
      kProgramLibraries,
      {.found = fmt::format("{} does not find {}", path.string(), fmt::join(missing, ", ")),
       .why = "it will not start",
       .fix = "load the modules that it was built with, or LD_LIBRARY_PATH=FOLDER in front"});
}

bool uses_mpi_or_ucx(const std::vector<LoadedLibrary>& libraries) {
  for (const char* name : {"libmpi", "libpmpi"}) {
    if (find_library(libraries, name) != nullptr) return true;
  }
  return find_ucx(libraries, "libucp") != nullptr || find_ucx(libraries, "libuct") != nullptr;
}

// It must be the first library, unless it is told otherwise (interpose/address_sanitizer.cpp).
void check_sanitizer(Findings& findings, const fs::path& path, const FileFacts& file,
                     const std::vector<LoadedLibrary>& libraries) {
  const auto is_runtime = [](const LoadedLibrary& library) {
    return library.name.starts_with("libasan.so") || library.name.starts_with("libclang_rt.asan");
  };
  const auto runtime = std::find_if(libraries.begin(), libraries.end(), is_runtime);
  if (runtime == libraries.end()) return;
  constexpr const char* kSetting = "verify_asan_link_order=0";
  if (!file.sets_asan_options ||
      environment_value("ASAN_OPTIONS").find(kSetting) != std::string::npos) {
    findings.ok("program", fmt::format("{} has AddressSanitizer ({}), which runs behind uctrace",
                                       path.string(), runtime->name));
    return;
  }
  findings.warning(
      kProgramSanitizer,
      {.found = fmt::format("{} has AddressSanitizer ({}) with settings of its own "
                            "(__asan_default_options)",
                            path.string(), runtime->name),
       .why =
           "unless they hold verify_asan_link_order=0, it ends at its start: \"ASan runtime does "
           "not come first\"",
       .fix = fmt::format("export ASAN_OPTIONS={}", kSetting)});
}

void check_dynamic(Findings& findings, const fs::path& path, const FileFacts& file,
                   ProgramFacts& facts) {
  std::string why;
  const auto libraries = libraries_of(path, why);
  if (!libraries) {
    findings.problem(kProgramLibraries,
                     {.found = "the libraries of " + path.string() + " cannot be listed",
                      .why = why,
                      .fix = "ldd " + shell_word(path.string())});
    return;
  }
  facts.libraries = *libraries;
  facts.can_be_recorded = true;
  check_missing_libraries(findings, path, *libraries);
  check_sanitizer(findings, path, file, *libraries);
  if (file.defines_mpi_init || file.defines_ucp_init) {
    findings.problem(
        kProgramHasMpiInside,
        {.found = fmt::format("{} has {} linked into it", path.string(),
                              file.defines_mpi_init ? "MPI" : "UCX"),
         .why = "calls inside of one program cannot be seen from outside",
         .fix = "link it dynamically: without -static and with libmpi.so in place of libmpi.a"});
  } else if (uses_mpi_or_ucx(*libraries)) {
    findings.ok("program", path.string() + " is dynamic and uses MPI or UCX");
  } else {
    findings.warning(
        kProgramNoMpi,
        {.found = path.string() + " uses neither MPI nor UCX itself",
         .why = "unless it loads them at run time or starts a program that does, as Python and "
                "scripts do, there is nothing to record",
         .fix = "uctrace check -- PROGRAM, with the program that uses MPI"});
  }
}

// "#!/usr/bin/env python3" -> python3, "#!/bin/sh -e" -> /bin/sh.
fs::path program_of_script(const std::string& interpreter) {
  const Target target = find_target([&] {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < interpreter.size();) {
      const std::size_t end = std::min(interpreter.find(' ', at), interpreter.size());
      if (end > at) words.push_back(interpreter.substr(at, end - at));
      at = end + 1;
    }
    return words;
  }());
  return target.path;
}

void check_kind(Findings& findings, const fs::path& path, ProgramFacts& facts) {
  const FileFacts file = look_at_file(path);
  switch (file.kind) {
    case FileKind::unreadable:
    case FileKind::other:
      facts.can_be_recorded = true;
      findings.ok("program", path.string() + " cannot be looked into; it is taken for a good one");
      return;
    case FileKind::script: {
      const fs::path program = program_of_script(file.interpreter);
      findings.ok("program", fmt::format("{} is a script of {}", path.string(), file.interpreter));
      if (!program.empty() && program != path) check_kind(findings, program, facts);
      return;
    }
    case FileKind::foreign_elf:
      findings.problem(kProgramForeign,
                       {.found = path.string() + " is of another word size or processor",
                        .why = "uctrace's library cannot be loaded into it",
                        .fix = "build it for this machine: remove -m32 or the cross compiler"});
      return;
    case FileKind::static_elf:
      findings.problem(kProgramStatic,
                       {.found = path.string() + " is linked statically",
                        .why = "it has no dynamic linker, so that nothing can be loaded into it",
                        .fix = "link it without -static"});
      return;
    case FileKind::dynamic_elf:
      check_dynamic(findings, path, file, facts);
  }
}

}  // namespace

ProgramFacts check_program(Findings& findings, const Target& target) {
  ProgramFacts facts;
  const std::string word = target.program.empty() ? target.command.front() : target.program;
  if (target.path.empty()) {
    findings.problem(kProgramMissing, {.found = fmt::format("there is no program '{}'", word),
                                       .why = target.program.empty()
                                                  ? "no word behind the launcher is a program file"
                                                  : "no such file, here or in PATH",
                                       .fix = "correct its name, or build it"});
    return facts;
  }
  if (access(target.path.c_str(), X_OK) != 0) {
    findings.problem(kProgramNotExecutable,
                     {.found = target.path.string() + " may not be executed",
                      .why = "it lacks the permission",
                      .fix = "chmod +x " + shell_word(target.path.string())});
  }
  check_privilege(findings, target.path);
  check_kind(findings, target.path, facts);
  return facts;
}

}  // namespace uctrace::cli::check
