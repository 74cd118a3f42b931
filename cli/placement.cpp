#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/placement/placement_output.hpp"

namespace uctrace::cli {

int run(const PlacementCommand& command) {
  end_quietly_on_closed_pipe();
  PlacementOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  FittedOutput fitted(std::cout, options.width);
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    write_placement(out, rows, command.data.folder, options);
  });
  return kOk;
}

}  // namespace uctrace::cli
