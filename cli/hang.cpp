#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/hang_output.hpp"

namespace uctrace::cli {

int run(const HangCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data, Rows::of_run);
  HangOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  FittedOutput fitted(std::cout, options.width);
  write_hang(fitted, merged, options);
  return kOk;
}

}  // namespace uctrace::cli
