#include "log-merger/diff/diff.hpp"

#include <iostream>

#include "cli/measured_run.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/diff/diff_output.hpp"

namespace uctrace::cli {

int run(const DiffCommand& command) {
  end_quietly_on_closed_pipe();
  diff::DiffOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  DataChoice data_b = command.b;
  data_b.threads = command.a.threads;
  // One after the other: at most one is open at a time.
  const diff::RunMeasures a = measured_run(command.a), b = measured_run(data_b);
  FittedOutput fitted(std::cout, options.width);
  write_diff(fitted, {a, b, command.a.folder.string(), command.b.folder.string()},
             diff::compare(a, b), options);
  return kOk;
}

}  // namespace uctrace::cli
