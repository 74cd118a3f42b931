#include "cli/measured_run.hpp"

#include <sstream>

#include "cli/run_loader.hpp"

namespace uctrace::cli {

diff::RunMeasures measured_run(const DataChoice& data) {
  diff::RunMeasures measures;
  std::ostringstream nothing;
  tell_run(data, nothing,
           [&](std::ostream&, const RowSource& rows) { measures = diff::measures_of(rows); });
  return measures;
}

}  // namespace uctrace::cli
