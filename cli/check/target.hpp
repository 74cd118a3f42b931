// The program that a command line would run, and its settings, as far as the line tells.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "launcher-line/edit.hpp"

namespace uctrace::cli::check {

struct Launcher {
  bool is_one = false;  // also if its lines are not parsed
  launcher::Kind kind = launcher::Kind::none;
  std::string word;            // as typed: "mpirun"
  std::filesystem::path path;  // with symbolic links resolved; empty if there is none
};

struct Target {
  std::vector<std::string> command;
  Launcher launcher;
  std::size_t launcher_at = 0;                     // its place in the command
  std::string program;                             // as typed; empty if none was found
  std::filesystem::path path;                      // empty if there is no such program
  std::map<std::string, std::string> environment;  // -x NAME=VALUE, -genv NAME VALUE, NAME=VALUE
  std::map<std::string, std::string> mca;          // --mca NAME VALUE
};

// The file that a shell would find for this word, executable or not; empty if there is none.
std::filesystem::path find_in_path(const std::string& word);

// The launcher that a word names. May run `mpirun --version` if the name alone is not enough.
Launcher as_launcher(const std::string& word);

// After an unknown launcher, or an unknown option, the program is the first word that names a
// program file.
Target find_target(const std::vector<std::string>& command);

// A target for each program of an MPMD line ("mpirun -np 1 ./a : -np 3 ./b"); one for other lines.
std::vector<Target> find_targets(const std::vector<std::string>& command);

}  // namespace uctrace::cli::check
