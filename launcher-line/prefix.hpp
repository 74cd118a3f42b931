// Commands before a launcher that become it: env, time, nice, numactl, timeout, ...
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher-line/line.hpp"

namespace uctrace::launcher {

// One `env` before the launcher, and what it does to the environment.
struct EnvCommand {
  bool is_empty = false;                                      // -i: starts with nothing
  std::vector<std::string> unset;                             // -u
  std::vector<std::pair<std::string, std::size_t>> assigned;  // name, word
  std::size_t command = 0;                                    // where the command that it runs
                                                              // begins
};

struct Prefix {
  std::size_t command = 0;  // the first word that is no such command or its argument
  std::vector<EnvCommand> env;
};

// Stops before the first word that it does not know for sure.
Prefix find_prefix(const Words& words);

struct Variable {
  std::string name, value;
};

using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// The environment of a launcher after these prefixes. If an `env` on the line decides about a
// variable, setting it edits the line; else the caller has to set it.
class Environment {
 public:
  Environment(Line& line, const Prefix& prefix, const Lookup& around)
      : line_(line), prefix_(prefix), around_(around) {}

  std::optional<std::string> get(const std::string& name) const;
  void set(const std::string& name, const std::string& value);
  // The variables that the caller has to set for the whole line.
  const std::vector<Variable>& changes() const { return changes_; }

 private:
  Line& line_;
  const Prefix& prefix_;
  const Lookup& around_;
  std::vector<Variable> changes_;
};

}  // namespace uctrace::launcher
