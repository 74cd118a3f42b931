#include "launcher-line/prefix.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "launcher-line/options.hpp"

namespace uctrace::launcher {
namespace {

struct PrefixCommand {
  std::string_view name;
  OptionTable options;
  std::size_t operands = 0;  // words of its own after the options
};

constexpr PrefixCommand kPrefixCommands[] = {
    {"env", {.none = "i ignore-environment v debug 0", .one = "u unset C chdir", .two = ""}},
    {"time",
     {.none = "p portability a append v verbose q quiet", .one = "o output f format", .two = ""}},
    {"nice", {.none = "0 1 2 3 4 5 6 7 8 9", .one = "n adjustment", .two = ""}},
    {"nohup", {.none = "", .one = "", .two = ""}},
    {"setsid", {.none = "c ctty f fork w wait", .one = "", .two = ""}},
    {"stdbuf", {.none = "", .one = "i input o output e error", .two = ""}},
    {"ionice", {.none = "t ignore", .one = "c class n classdata", .two = ""}},
    {"numactl",
     {.none = "a all b balancing l localalloc",
      .one = "i interleave p preferred P preferred-many C physcpubind N cpunodebind c cpubind m "
             "membind",
      .two = ""}},
    {"taskset", {.none = "a all-tasks c cpu-list", .one = "", .two = ""}, 1},
    {"chrt",
     {.none = "b batch d deadline f fifo i idle o other r rr R reset-on-fork v verbose",
      .one = "T sched-runtime P sched-period D sched-deadline",
      .two = ""},
     1},
    {"timeout",
     {.none = "foreground preserve-status v verbose", .one = "k kill-after s signal", .two = ""},
     1},
};

const PrefixCommand* find_command(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  const auto* found =
      std::find_if(std::begin(kPrefixCommands), std::end(kPrefixCommands),
                   [&](const PrefixCommand& command) { return command.name == name; });
  return found != std::end(kPrefixCommands) ? found : nullptr;
}

EnvCommand read_env(const Line& line, const OptionScan& scan, std::size_t& at) {
  EnvCommand env;
  for (const FoundOption& option : scan.options) {
    if (option.name == "i" || option.name == "ignore-environment") env.is_empty = true;
    if (option.name == "u" || option.name == "unset") env.unset.push_back(value_of(line, option));
  }
  if (at < line.size() && line[at] == "-") {
    env.is_empty = true;
    ++at;
  }
  for (; at < line.size(); ++at) {
    const std::size_t equals = line[at].find('=');
    if (equals == std::string::npos) break;
    env.assigned.emplace_back(line[at].substr(0, equals), at);
  }
  env.command = at;
  return env;
}

}  // namespace

Prefix find_prefix(const Words& words) {
  const Line line(words);
  Prefix prefix;
  while (prefix.command < words.size()) {
    const PrefixCommand* command = find_command(words[prefix.command]);
    if (command == nullptr) break;
    const OptionScan scan = scan_options(words, prefix.command + 1, words.size(), command->options);
    std::size_t at = scan.program;
    if (scan.unknown) break;
    std::optional<EnvCommand> env;
    if (command->name == "env") env = read_env(line, scan, at);
    at += command->operands;
    if (at >= words.size()) break;
    if (env) prefix.env.push_back(std::move(*env));
    prefix.command = at;
  }
  return prefix;
}

namespace {

// Whether `env` leaves the variable alone; else the word that sets it, or nothing if `env` removes
// it.
bool passes_on(const EnvCommand& env, const std::string& name, std::optional<std::size_t>& word) {
  word.reset();
  for (const auto& [assigned, at] : env.assigned) {
    if (assigned == name) word = at;
  }
  return !word && !env.is_empty &&
         std::find(env.unset.begin(), env.unset.end(), name) == env.unset.end();
}

}  // namespace

std::optional<std::string> Environment::get(const std::string& name) const {
  std::optional<std::size_t> word;
  for (auto env = prefix_.env.rbegin(); env != prefix_.env.rend(); ++env) {
    if (passes_on(*env, name, word)) continue;
    if (!word) return std::nullopt;
    return line_[*word].substr(name.size() + 1);
  }
  return around_(name);
}

void Environment::set(const std::string& name, const std::string& value) {
  std::optional<std::size_t> word;
  for (auto env = prefix_.env.rbegin(); env != prefix_.env.rend(); ++env) {
    if (passes_on(*env, name, word)) continue;
    if (word) {
      line_.replace(*word, name + "=" + value);
    } else {
      line_.insert(env->command, {name + "=" + value});
    }
    return;
  }
  changes_.push_back({name, value});
}

}  // namespace uctrace::launcher
