// Edits a launcher's command line so that every process of the job loads the preload library and
// knows where to record, on other hosts too, whatever the user's line does to the environment. A
// line that is not fully understood is left alone. Nothing here has effects: files are read through
// `Surroundings`, and files and variables to write are returned.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher-line/line.hpp"
#include "launcher-line/prefix.hpp"

namespace uctrace::launcher {

enum class Kind { none, open_mpi, hydra, slurm };

// What the processes of the job must get.
struct Wanted {
  std::vector<std::string> libraries;  // first in LD_PRELOAD, in this order
  std::vector<Variable> variables;     // the others
  std::filesystem::path copies;        // prefix of the paths of edited copies of files that the
                                       // line names
};

struct Surroundings {
  Lookup variable;  // the environment of the line
  Lookup file;      // the text of a file
};

struct Copy {
  std::filesystem::path path;
  std::string text;
};

struct Edit {
  Words words;                        // the line to run
  std::vector<Variable> environment;  // to set for it
  std::vector<Copy> copies;           // to write before it runs
  bool is_edited = false;             // `words` differ from what the user typed
  // Not empty: why the launcher's line was left alone. Unless the launcher passes the environment
  // on by itself, processes may lack it.
  std::string unclear;
};

// `launcher` is the position of the launcher's name, `kind` which launcher it is. With Kind::none
// only the environment is set, through an `env` before the launcher if there is one.
Edit edit_line(const Words& words, Kind kind, const Prefix& prefix, const Wanted& wanted,
               const Surroundings& around);

// The user's LD_PRELOAD with `libraries` first, each entry exactly once.
std::string preload_list(const std::vector<std::string>& libraries, std::string_view of_user);

}  // namespace uctrace::launcher
