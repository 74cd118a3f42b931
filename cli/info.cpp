#include <iostream>

#include "cli/data-folder/shown_folder.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace::cli {

int run(const InfoCommand& command) {
  end_quietly_on_closed_pipe();
  InfoOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  options.folder = shown_folder(command.data);
  FittedOutput fitted(std::cout, options.width);
  std::size_t violated = 0;
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    violated = count_identities(rows.run()).violated;
    write_info(out, rows, options);
  });
  return violated == 0 ? kOk : kIdentityViolated;
}

}  // namespace uctrace::cli
