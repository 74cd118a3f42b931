#include <iostream>
#include <sstream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/diff/diff.hpp"
#include "log-merger/diff/diff_output.hpp"

namespace uctrace::cli {
namespace {

// One run after the other: no more than one is open at a time.
diff::RunMeasures measured(const DataChoice& data) {
  diff::RunMeasures measures;
  std::ostringstream nothing;
  tell_run(data, nothing, [&](std::ostream&, const RowSource& rows) {
    measures = diff::measures_of(rows);
  });
  return measures;
}

}  // namespace

int run(const DiffCommand& command) {
  end_quietly_on_closed_pipe();
  diff::DiffOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  DataChoice data_b = command.b;
  data_b.threads = command.a.threads;
  const diff::RunMeasures a = measured(command.a), b = measured(data_b);
  FittedOutput fitted(std::cout, options.width);
  write_diff(fitted, {a, b, command.a.folder.string(), command.b.folder.string()},
             diff::compare(a, b), options);
  return kOk;
}

}  // namespace uctrace::cli
