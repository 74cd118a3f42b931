#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/partitions_output.hpp"

namespace uctrace::cli {

int run(const PartitionsCommand& command) {
  end_quietly_on_closed_pipe();
  PartitionsOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  FittedOutput fitted(std::cout, options.width);
  tell_run(command.data, fitted,
           [&](std::ostream& out, const RowSource& rows) { write_partitions(out, rows, options); });
  return kOk;
}

}  // namespace uctrace::cli
