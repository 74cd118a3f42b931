// Starts the program of `record` so that all processes of its job are recorded: edits its line for
// the launcher and sets the environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher-line/edit.hpp"

namespace uctrace::cli {

// The program and arguments that a user wants recorded, and which launcher they name.
struct LaunchLine {
  std::vector<std::string> words;
  launcher::Prefix prefix;
  launcher::Kind kind = launcher::Kind::none;
};

// May run `mpirun --version` if the name alone is not enough.
LaunchLine read_launch_line(const std::vector<std::string>& words);

// True for a process that a launcher started, false for one that starts a launcher.
bool is_behind_launcher(const LaunchLine& line);

// Whether this rank speaks for all ranks of its host, which would say the same. True if its place
// among them is not known.
bool speaks_for_its_host();

// True if an enclosing `uctrace record` already records everything started here.
bool is_recorded_already();

// A path of the library without space or colon, which LD_PRELOAD cannot hold. If the library's own
// path has one, a link in the first of `folders` that has none and that nobody else may write to.
// Throws Error if there is no such folder.
std::string preloadable(const std::filesystem::path& library,
                        const std::vector<std::filesystem::path>& folders);

// Edits the line (only if `may_edit`), sets the environment of this process for it, and writes the
// edited copies of files.
launcher::Edit set_up(const LaunchLine& line, const launcher::Wanted& wanted, bool may_edit);

}  // namespace uctrace::cli
