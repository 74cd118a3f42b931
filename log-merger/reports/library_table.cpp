#include "log-merger/reports/library_table.hpp"

#include <fmt/format.h>

#include "log-merger/model/durations.hpp"
#include "log-merger/reports/cells.hpp"

namespace uctrace {

Table library_table(const Run& run, const std::vector<LibrarySum>& sums) {
  std::uint64_t calls = 0;
  std::int64_t ns = 0;
  for (const LibrarySum& sum : sums) {
    calls += sum.calls;
    add_ns(ns, sum.ns);
  }
  Table table{.key = "library",
              .title = fmt::format("By library: {} calls of libraries above UCX other than MPI, {}",
                                   calls, format_duration(static_cast<std::uint64_t>(ns))),
              .columns = {{"library", "library"},
                          {"function", "function"},
                          {"calls", "calls", Unit::count},
                          {"time_ns", "time", Unit::nanoseconds},
                          {"mean_ns", "mean", Unit::nanoseconds},
                          {"max_ns", "longest", Unit::nanoseconds},
                          {"asked_bytes", "by arguments", Unit::bytes},
                          {"operations", "UCP operations", Unit::count},
                          {"payload_bytes", "payload", Unit::bytes},
                          {"collective", "collective"},
                          {"algorithm", "algorithm"},
                          {"layers", "layers of UCC"},
                          {"inferred_operations", "inferred", Unit::count},
                          {"inferred_bytes", "their payload", Unit::bytes},
                          {"calls_without_bytes", "bytes not told", Unit::count}},
              .rows = {}};
  for (const LibrarySum& sum : sums) {
    table.rows.push_back({text_cell(run, sum.library), text_cell(run, sum.function), sum.calls,
                          time_cell(sum.ns), mean_time_cell(sum.ns, sum.calls),
                          time_cell(sum.max_ns), sum.bytes, sum.operations, sum.operation_bytes,
                          text_cell(run, sum.collective), text_cell(run, sum.algorithm),
                          text_cell(run, sum.layers), sum.inferred_operations, sum.inferred_bytes,
                          sum.calls_without_bytes});
  }
  return table;
}

}  // namespace uctrace
