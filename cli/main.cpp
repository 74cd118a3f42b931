// The `uctrace` command: parses, runs one verb, and is the one place where errors become text.
#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/command-line/command_line.hpp"
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
  } catch (const uctrace::Error& error) {
    std::cerr << "uctrace: " << error.message() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "uctrace: out of memory: the run does not fit; use a machine with more memory.\n";
  } catch (const std::exception& error) {
    std::cerr << "uctrace: unexpected failure: " << error.what() << "; please report it.\n";
  }
  return uctrace::cli::kToolFailed;
}
