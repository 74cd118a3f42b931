#include "log-merger/reports/comms.hpp"

#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const CommsCommand& command) {
  end_quietly_on_closed_pipe();
  CommsOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  FittedOutput fitted(std::cout, options.width);
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    write_comms(out, rows, command.filter, options);
  });
  return kOk;
}

}  // namespace uctrace::cli
