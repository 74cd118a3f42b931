// Edits a launcher's command line so that every process of the job loads the preload library and
// knows where to record, on other hosts too, and whatever the user's own line says of the
// environment. What cannot be understood for sure is left alone. Nothing here acts: files are read
// through `Surroundings`, and what is to be written or set is returned.
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
  std::vector<std::string> libraries;  // lead LD_PRELOAD, in this order
  std::vector<Variable> variables;     // the others
  std::filesystem::path copies;        // edited copies of files that the line names begin with this
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
  std::vector<Copy> copies;           // to write before
  bool is_edited = false;             // `words` differ from what the user typed
  // Not empty: the launcher's line was left alone for this reason, so that processes may miss the
  // environment where the launcher does not pass it on by itself.
  std::string unclear;
};

// `launcher` is the word of the launcher's name, `kind` what it is; with Kind::none only the
// environment is set, through an `env` in front where there is one.
Edit edit_line(const Words& words, Kind kind, const Prefix& prefix, const Wanted& wanted,
               const Surroundings& around);

// LD_PRELOAD of the user with `libraries` first, and each exactly once.
std::string preload_list(const std::vector<std::string>& libraries, std::string_view of_user);

}  // namespace uctrace::launcher
