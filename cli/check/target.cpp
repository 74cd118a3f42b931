#include "cli/check/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli/check/child.hpp"
#include "launcher-line/identify.hpp"
#include "launcher-line/options.hpp"
#include "launcher-line/prefix.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

// Launchers whose lines are not parsed.
constexpr const char* kOthers[] = {"mpirun", "mpiexec", "aprun", "jsrun", "ibrun", "flux"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_program(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

using launcher::Kind;
using launcher::Words;

void set(Target& target, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) return;
  target.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
}

// Takes a prefix of a command; returns its number of words.
std::size_t take_prefix(Target& target, std::size_t at) {
  const Words words(target.command.begin() + static_cast<std::ptrdiff_t>(at), target.command.end());
  const launcher::Prefix prefix = launcher::find_prefix(words);
  for (const launcher::EnvCommand& env : prefix.env) {
    for (const auto& [name, word] : env.assigned) set(target, words[word]);
  }
  if (prefix.command < words.size() && fs::path(words[prefix.command]).filename() == "uctrace") {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) return static_cast<std::size_t>(dashes - words.begin()) + 1;
  }
  return prefix.command;
}

void take_option(Target& target, const launcher::FoundOption& option) {
  const Words& words = target.command;
  const std::string& name = option.name;
  if (name == "mca" || name == "gmca" || name == "omca" || name == "gomca") {
    target.mca[words[option.value_word]] = words[option.value_word + 1];
  } else if (name == "genv" || name == "env") {
    if (option.arguments == 2) {
      target.environment[words[option.value_word]] = words[option.value_word + 1];
    } else {
      set(target, launcher::value_of(launcher::Line(words), option));
    }
  } else if (name == "x") {
    set(target, launcher::value_of(launcher::Line(words), option));
  }
}

// From the word at `at` on.
void find_program(Target& target, std::size_t at) {
  const Words& words = target.command;
  const launcher::OptionTable* table = launcher::option_table(target.launcher.kind);
  bool is_sure = !target.launcher.is_one || table != nullptr;
  while (at < words.size()) {
    if (table != nullptr) {
      const launcher::OptionScan scan = launcher::scan_options(words, at, words.size(), *table);
      for (const launcher::FoundOption& option : scan.options) take_option(target, option);
      at = scan.program;
      if (scan.unknown) is_sure = false;  // it may have arguments
    }
    if (at < words.size()) at += take_prefix(target, at);
    if (at >= words.size()) return;
    const bool is_option = words[at].starts_with('-');
    const fs::path path = is_option ? fs::path() : find_in_path(words[at]);
    if (is_program(path) || is_sure) {
      target.program = words[at];
      target.path = path;
      return;
    }
    // A path that nothing else explains is a misspelt program.
    const bool looks_meant = words[at].find('/') != std::string::npos && !fs::exists(words[at]);
    if (target.program.empty() && !is_option && (looks_meant || at + 1 == words.size())) {
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
  const auto resolved = [](const std::string& name) {
    const fs::path typed = find_in_path(name);
    std::error_code error;
    return typed.empty() ? typed : fs::canonical(typed, error);
  };
  Launcher launcher{.word = word, .path = resolved(word)};
  launcher.kind = launcher::identify(
      word, {.resolved = [&](const std::string& name) { return resolved(name).string(); },
             .version =
                 [](const std::string& name) {
                   const ChildResult said = run_child({name, "--version"}, {.timeout_s = 5});
                   return said.out + said.err;
                 }});
  const std::string name = fs::path(word).filename();
  launcher.is_one = launcher.kind != Kind::none ||
                    std::any_of(std::begin(kOthers), std::end(kOthers),
                                [&](const char* beginning) { return name.starts_with(beginning); });
  return launcher;
}

Target find_target(const std::vector<std::string>& command) {
  Target target;
  target.command = command;
  std::size_t at = take_prefix(target, 0);
  if (at < command.size()) {
    target.launcher = as_launcher(command[at]);
    target.launcher_at = at;
    if (target.launcher.is_one) ++at;
  }
  find_program(target, at);
  return target;
}

std::vector<Target> find_targets(const std::vector<std::string>& command) {
  const Target first = find_target(command);
  std::vector<Target> targets = {first};
  if (!first.launcher.is_one) return targets;
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
