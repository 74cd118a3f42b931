#include "log-merger/reports/comms.hpp"

#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const CommsCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  CommsOptions options = command.options;
  options.colour = colour_of_output();
  write_comms(std::cout, merged, command.filter, options);
  return kOk;
}

}  // namespace uctrace::cli
