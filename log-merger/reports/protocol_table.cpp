#include "log-merger/reports/protocol_table.hpp"

#include <optional>

#include "log-merger/model/size_class.hpp"
#include "log-merger/reports/cells.hpp"

namespace uctrace {
namespace {

Cell protocol_cell(const Run& run, TextId protocol) {
  return protocol == kNoText ? Cell{std::string("unknown")} : Cell{run.texts[protocol]};
}

// Spare is all but how many messages took how long.
const std::vector<Column> kNumbers = {{"messages", "messages", Unit::count},
                                      {"bytes", "payload", Unit::bytes, true},
                                      {"untimed", "untimed", Unit::count, true},
                                      {"median_ns", "median latency", Unit::nanoseconds},
                                      {"p99_ns", "99 %", Unit::nanoseconds, true},
                                      {"per_second_bytes", "payload/s", Unit::bytes, true}};

void add_numbers(std::vector<Cell>& row, const Latencies& latencies) {
  const LatencyFigures figures = figures_of(latencies);
  row.insert(row.end(), {Cell{figures.messages}, Cell{figures.bytes}, Cell{figures.untimed},
                         number_cell(figures.median_ns), number_cell(figures.p99_ns),
                         number_cell(figures.per_second_bytes)});
}

Table with_numbers(Table table) {
  table.columns.insert(table.columns.end(), kNumbers.begin(), kNumbers.end());
  return table;
}

}  // namespace

Table protocol_table(const Run& run, const std::vector<LatencySum>& sums) {
  Table table = with_numbers({.key = "protocols",
                              .title = "By protocol",
                              .columns = {{"protocol", "protocol"}},
                              .rows = {}});
  std::vector<TextId> order;
  for (const ProtocolSize& row : by_protocol_and_size(run, sums)) {
    if (order.empty() || order.back() != row.protocol) order.push_back(row.protocol);
  }
  for (const TextId protocol : order) {
    Latencies all;
    for (const LatencySum& sum : sums) {
      if (sum.protocol == protocol) all.add(sum);
    }
    auto& row = table.rows.emplace_back(std::vector<Cell>{protocol_cell(run, protocol)});
    add_numbers(row, all);
  }
  return table;
}

Table protocol_size_table(const Run& run, const std::vector<LatencySum>& sums) {
  Table table = with_numbers({.key = "protocol_sizes",
                              .title = "By protocol and size (latencies within 1/64)",
                              .columns = {{"protocol", "protocol"},
                                          {"reach", "within"},
                                          {"from_bytes", "from", Unit::bytes},
                                          {"below_bytes", "below", Unit::bytes, true}},
                              .rows = {}});
  table.columns.push_back({"ucx_least_ns", "UCX expects", Unit::nanoseconds});
  table.columns.push_back({"ucx_most_ns", "at most", Unit::nanoseconds, true});
  for (const ProtocolSize& size : by_protocol_and_size(run, sums)) {
    auto& row = table.rows.emplace_back(std::vector<Cell>{
        protocol_cell(run, size.protocol), std::string(name_of(size.reach)), length_of(size.size),
        size.size >= 64 ? UINT64_MAX : std::uint64_t{1} << size.size});
    add_numbers(row, size.all);
    const std::optional<Estimate> expected = estimate_of(run, size);
    row.push_back(expected ? Cell{expected->least_ns} : Cell{});
    row.push_back(expected ? Cell{expected->most_ns} : Cell{});
  }
  return table;
}

}  // namespace uctrace
