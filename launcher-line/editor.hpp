// Private to launcher-line/: what the editors of the three launchers share.
#pragma once

#include <string>
#include <vector>

#include "launcher-line/edit.hpp"
#include "launcher-line/options.hpp"

namespace uctrace::launcher {

inline constexpr const char* kPreload = "LD_PRELOAD";

struct Editor {
  Line& line;
  std::size_t launcher;  // the word of its name
  Environment& environment;
  const Wanted& wanted;
  const Surroundings& around;
  Edit& result;
  // A user's LD_PRELOAD from the line, which counts only if the environment has none.
  std::string preload_otherwise = {};

  // The variables that the launcher must pass on, LD_PRELOAD first.
  std::vector<Variable> variables() const;
  // LD_PRELOAD with ours first, for a value that the user set on the line.
  std::string preload(std::string_view of_user) const {
    return preload_list(wanted.libraries, of_user);
  }
  // Makes an edited copy of a file with this text, and returns its path.
  std::string copy_of(const std::string& text);
};

// If the line is not understood, each fills result.unclear and leaves the line alone.
void edit_open_mpi(Editor& editor);
void edit_hydra(Editor& editor);
void edit_slurm(Editor& editor);

const OptionTable& open_mpi_options();
const OptionTable& hydra_options();
const OptionTable& slurm_options();

// "NAME" of "NAME=VALUE" and of "NAME".
inline std::string name_part(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}
// "VALUE" of "NAME=VALUE"; of "NAME", nothing.
inline std::optional<std::string> value_part(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return std::nullopt;
  return setting.substr(equals + 1);
}

std::vector<std::string> split(const std::string& text, char separator);
std::string join(const std::vector<std::string>& parts, char separator);

}  // namespace uctrace::launcher
