#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace::cli {

int run(const InfoCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data, Rows::of_run);
  InfoOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  FittedOutput fitted(std::cout, options.width);
  write_info(fitted, merged, options);
  return count_identities(merged).violated == 0 ? kOk : kIdentityViolated;
}

}  // namespace uctrace::cli
