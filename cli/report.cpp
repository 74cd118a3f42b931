#include "log-merger/reports/report.hpp"

#include <iostream>

#include "cli/data-folder/shown_folder.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const ReportCommand& command) {
  end_quietly_on_closed_pipe();
  ReportOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  options.folder = shown_folder(command.data);
  FittedOutput fitted(std::cout, options.width);
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    write_report(out, rows, Filter(rows, command.filter), options);
  });
  return kOk;
}

}  // namespace uctrace::cli
