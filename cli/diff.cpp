#include <iostream>

#include "cli/compared_runs.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const DiffCommand& command) {
  end_quietly_on_closed_pipe();
  diff::DiffOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  DataChoice data_b = command.b;
  data_b.threads = command.a.threads;
  const Comparison compared = compare_runs(command.a, data_b);
  FittedOutput fitted(std::cout, options.width);
  write_diff(fitted, compared.runs(), compared.diff, options);
  return kOk;
}

}  // namespace uctrace::cli
