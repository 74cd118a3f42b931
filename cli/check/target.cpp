#include "cli/check/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "cli/check/child.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 12> kWrappers = {"env",     "nice",    "nohup",   "numactl",
                                                   "stdbuf",  "setarch", "taskset", "time",
                                                   "timeout", "chrt",    "ionice",  "uctrace"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_program(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

bool is_wrapper(const std::string& word) {
  const std::string name = fs::path(word).filename();
  return std::find(kWrappers.begin(), kWrappers.end(), name) != kWrappers.end();
}

// Takes what the word at `at` sets, and says how many words that was.
std::size_t take_setting(const std::vector<std::string>& words, std::size_t at, Target& target) {
  const auto is = [&](std::initializer_list<const char*> names, std::size_t values) {
    return at + values < words.size() &&
           std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return words[at] == name; });
  };
  const auto set = [&](const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return false;
    target.environment[text.substr(0, equals)] = text.substr(equals + 1);
    return true;
  };
  if (is({"--mca", "-mca", "--gmca", "-gmca"}, 2)) {
    target.mca[words[at + 1]] = words[at + 2];
    return 3;
  }
  if (is({"-genv", "--genv", "-env", "--env"}, 2)) {
    target.environment[words[at + 1]] = words[at + 2];
    return 3;
  }
  if (is({"-x"}, 1)) {
    set(words[at + 1]);
    return 2;
  }
  if (words[at].starts_with('-')) return 1;
  return words[at].find('/') == std::string::npos && set(words[at]) ? 1 : 0;
}

// From the word at `at` on; the first plain word where no launcher's options can be in between.
void find_program(Target& target, std::size_t at) {
  const std::vector<std::string>& words = target.command;
  bool is_sure = target.launcher.kind == LauncherKind::none;
  while (at < words.size()) {
    if (const std::size_t taken = take_setting(words, at, target); taken != 0) {
      at += taken;
      continue;
    }
    const fs::path path = find_in_path(words[at]);
    if (is_wrapper(words[at]) && is_program(path)) {
      is_sure = false;  // its options may have values
      ++at;
      // `uctrace record -- ...`
      if (at < words.size() && words[at] == "record") ++at;
      continue;
    }
    if (is_program(path) || is_sure) {
      target.program = words[at];
      target.path = path;
      return;
    }
    // A name with a folder that nothing else explains is a misspelt program.
    const bool looks_meant = words[at].find('/') != std::string::npos && !fs::exists(words[at]);
    if (target.program.empty() && (looks_meant || at + 1 == words.size())) {
      target.program = words[at];
      target.path = path;
    }
    ++at;
  }
}

}  // namespace

fs::path find_in_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return is_file(word) ? fs::path(word) : fs::path();
  std::istringstream folders(environment_value("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder.empty() ? "." : folder) / word;
    if (is_program(path)) return path;
  }
  return {};
}

Launcher as_launcher(const std::string& word) {
  const fs::path typed = find_in_path(word);
  std::error_code error;
  Launcher launcher{.kind = LauncherKind::none,
                    .word = word,
                    .path = typed.empty() ? typed : fs::canonical(typed, error)};
  const std::string name = fs::path(word).filename();
  const std::string file = launcher.path.filename();
  const auto begins = [&](std::initializer_list<const char*> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const char* beginning) {
      return name.starts_with(beginning) || file.starts_with(beginning);
    });
  };
  if (file == "orterun" || file == "prterun" || file == "prun" || file == "oshrun" ||
      name.ends_with(".openmpi")) {
    launcher.kind = LauncherKind::open_mpi;
  } else if (begins({"mpiexec.hydra", "mpirun.hydra"}) || name.ends_with(".mpich")) {
    launcher.kind = LauncherKind::hydra;
  } else if (name == "srun") {
    launcher.kind = LauncherKind::slurm;
  } else if (begins({"mpirun", "mpiexec", "orterun", "aprun", "jsrun", "ibrun", "flux"})) {
    launcher.kind = LauncherKind::other;
  }
  return launcher;
}

Target find_target(const std::vector<std::string>& command) {
  Target target;
  target.command = command;
  std::size_t at = 0;
  while (at < command.size()) {
    const std::size_t taken = take_setting(command, at, target);
    if (taken == 0 && !is_wrapper(command[at])) break;
    at += std::max<std::size_t>(taken, 1);
  }
  if (at < command.size()) {
    target.launcher = as_launcher(command[at]);
    target.launcher_at = at;
    if (target.launcher.kind != LauncherKind::none) ++at;
  }
  find_program(target, target.launcher.kind == LauncherKind::none ? 0 : at);
  return target;
}

std::vector<Target> find_targets(const std::vector<std::string>& command) {
  const Target first = find_target(command);
  std::vector<Target> targets = {first};
  if (first.launcher.kind == LauncherKind::none) return targets;
  const auto behind_launcher = command.begin() + static_cast<std::ptrdiff_t>(first.launcher_at) + 1;
  for (auto at = behind_launcher; at != command.end(); ++at) {
    if (*at != ":") continue;
    std::vector<std::string> part(command.begin(), behind_launcher);
    part.insert(part.end(), at + 1, std::find(at + 1, command.end(), ":"));
    targets.push_back(find_target(part));
  }
  return targets;
}

}  // namespace uctrace::cli::check
