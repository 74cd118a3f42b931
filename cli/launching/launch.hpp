// How the program of `record` is started so that all processes of its job are recorded: its line,
// as edited for its launcher, and the environment it needs.
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

// May run `mpirun --version` where the name alone does not tell.
LaunchLine read_launch_line(const std::vector<std::string>& words);

// True for one of the processes that a launcher started, false for what starts a launcher itself.
bool is_behind_launcher(const LaunchLine& line);

// Of the ranks of a host one says what all of them would say. True where it is not known which one
// this is.
bool speaks_for_its_host();

// True if a `uctrace record` around this one records all that is started here.
bool is_recorded_already();

// A path of the library that LD_PRELOAD can hold: it takes no space or colon. Where the library's
// own has one, a link in the first of `folders` that has none and that nobody else may write to.
// Throws Error if there is no such folder.
std::string preloadable(const std::filesystem::path& library,
                        const std::vector<std::filesystem::path>& folders);

// Edits the line (`may_edit`: else none but the environment is set), sets the environment of this
// process for it and writes the files that it names.
launcher::Edit set_up(const LaunchLine& line, const launcher::Wanted& wanted, bool may_edit);

}  // namespace uctrace::cli
