#include "log-merger/reports/report.hpp"

#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {

int run(const ReportCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  ReportOptions options = command.options;
  options.colour = colour_of_output();
  write_report(std::cout, merged, Filter(merged, command.filter), options);
  return kOk;
}

}  // namespace uctrace::cli
