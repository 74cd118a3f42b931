#include "cli/compared_runs.hpp"

#include <sstream>
#include <utility>

#include "cli/run_loader.hpp"

namespace uctrace::cli {
namespace {

diff::RunMeasures measured(const DataChoice& data) {
  diff::RunMeasures measures;
  std::ostringstream nothing;
  tell_run(data, nothing,
           [&](std::ostream&, const RowSource& rows) { measures = diff::measures_of(rows); });
  return measures;
}

}  // namespace

Comparison compare_runs(const DataChoice& a, const DataChoice& b) {
  diff::RunMeasures of_a = measured(a), of_b = measured(b);
  diff::Diff diff = diff::compare(of_a, of_b);
  return {std::move(of_a), std::move(of_b), std::move(diff), a.folder.string(), b.folder.string()};
}

}  // namespace uctrace::cli
