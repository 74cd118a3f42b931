// The `uctrace` command: parses, runs one verb, and tells what failed.
#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/command-line/command_line.hpp"
#include "cli/failure_text.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"

namespace {

int run_verb(const std::vector<std::string>& arguments) {
  using namespace uctrace;
  const cli::Command command = cli::parse_command_line(arguments);
  const int status = std::visit(
      [](const auto& verb) {
        if constexpr (requires { verb.data.folder; }) cli::require_choice(verb.data.folder);
        return cli::run(verb);
      },
      command);
  if (!std::cout.flush()) {
    throw Error({.what = "cannot write the output",
                 .why = "standard output is full or closed",
                 .to_do = "make room, or write to another place"});
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return run_verb({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    uctrace::cli::tell_failure(failure);
  }
  return uctrace::cli::kToolFailed;
}
