#include "log-merger/live/rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "log-merger/reports/counter_names.hpp"

namespace uctrace::live {
namespace {

using log::CounterSnapshot;
using log::CounterTotal;
using Labels = std::vector<Cell>;

struct Flow {
  CounterTotal now, before;
};
using Flows = std::map<Labels, Flow>;

// The previous reading under the present names: ranks and names that came meanwhile are applied to
// it, too.
std::vector<CounterSnapshot> before_of(const Reading& reading) {
  std::vector<CounterSnapshot> before = reading.now;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const LiveProcess& process = reading.processes[i];
    if (process.base != Base::same) before[i].rows = process.before;
  }
  return before;
}

std::uint64_t number_in(const Cell& cell) {
  const auto* number = std::get_if<std::uint64_t>(&cell);
  return number != nullptr ? *number : 0;
}

// The last two columns of a table of counters are its totals.
void add(Flows& flows, const Table& table, CounterTotal Flow::*which) {
  for (const std::vector<Cell>& row : table.rows) {
    const Labels labels(row.begin(), row.end() - 2);
    flows[labels].*which += {number_in(row[row.size() - 2]), number_in(row.back())};
  }
}

// To a tenth.
double rate(std::uint64_t now, std::uint64_t before, double seconds) {
  return seconds > 0 ? std::round(static_cast<double>(now - before) / seconds * 10) / 10 : 0;
}

// Largest first: by the requested column, then bytes, messages, and the total sent so far.
void sort_rows(Table& table, SortBy sort) {
  const std::size_t first = table.columns.size() - 4;
  const auto order = [&](const std::vector<Cell>& row) {
    const double rates[] = {std::get<double>(row[first + 1]), std::get<double>(row[first])};
    const std::uint64_t totals[] = {number_in(row[first + 3]), number_in(row[first + 2])};
    const bool by_rate = sort == SortBy::bytes_per_s || sort == SortBy::messages_per_s;
    const bool by_bytes = sort == SortBy::bytes_per_s || sort == SortBy::bytes;
    return std::tuple(by_rate ? rates[!by_bytes] : 0, by_rate ? 0 : totals[!by_bytes], rates[0],
                      rates[1], totals[0], totals[1]);
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return order(a) > order(b); });
}

void insert_rate_columns(Table& table) {
  auto& columns = table.columns;
  const std::string what = columns[columns.size() - 2].key;  // messages, operations or calls
  const Column rates[] = {{what + "_per_s", what + "/s", Unit::count},
                          {"bytes_per_s", "bytes/s", Unit::count}};
  columns.insert(columns.end() - 2, std::begin(rates), std::end(rates));
}

// Everything that a process passed to UCT, which is what left it.
CounterTotal handed_to_uct(const CounterRows& rows) {
  CounterTotal sum;
  for (const auto& [key, total] : rows) {
    if (log::kind_of(key) == log::CounterKind::interface) sum += total;
  }
  return sum;
}

Table processes_table(const Reading& reading) {
  Table table{.key = "processes",
              .title = "Processes (what they handed to UCT, headers included)",
              .columns = {{"rank", "rank", Unit::count},
                          {"host", "host"},
                          {"pid", "pid", Unit::count},
                          {"state", "state"},
                          {"lag_s", "lags s", Unit::count, true},
                          {"unplaced", "unplaced", Unit::count, true},
                          {"lost_names", "lost names", Unit::count, true},
                          {"operations_per_s", "operations/s", Unit::count},
                          {"bytes_per_s", "bytes/s", Unit::count},
                          {"operations", "operations", Unit::count, true},
                          {"bytes", "bytes", Unit::bytes}},
              .rows = {}};
  const log::CountedSides sides(reading.now);
  for (std::size_t i = 0; i < reading.now.size(); ++i) {
    const CounterSnapshot& snapshot = reading.now[i];
    const LiveProcess& process = reading.processes[i];
    const CounterTotal now = handed_to_uct(snapshot.rows);
    const CounterTotal before = process.base == Base::same ? now : handed_to_uct(process.before);
    table.rows.push_back(
        {rank_cell(sides.of(i)), Cell(snapshot.host()), Cell(std::uint64_t{snapshot.page.pid}),
         Cell(std::string(name_of(process.state))), Cell(std::uint64_t{process.is_copy}),
         Cell(snapshot.unplaced_messages()), Cell(snapshot.page.lost_names),
         Cell(rate(now.messages, before.messages, reading.seconds)),
         Cell(rate(now.bytes, before.bytes, reading.seconds)), Cell(now.messages),
         Cell(now.bytes)});
  }
  return table;
}

}  // namespace

std::string_view name_of(SortBy sort) {
  static constexpr std::string_view kNames[] = {"bytes/s", "messages/s", "bytes", "messages"};
  return kNames[static_cast<std::size_t>(sort)];
}

Table rates_table(const Reading& reading, CountersBy by, std::optional<SortBy> sort) {
  if (by == CountersBy::processes) {
    Table processes = processes_table(reading);
    if (sort) sort_rows(processes, *sort);
    return processes;
  }
  Table table = counters_table(reading.now, by);
  Flows flows;
  add(flows, table, &Flow::now);
  add(flows, counters_table(before_of(reading), by), &Flow::before);
  insert_rate_columns(table);
  table.rows.clear();
  for (const auto& [labels, flow] : flows) {
    std::vector<Cell> row = labels;
    row.emplace_back(rate(flow.now.messages, flow.before.messages, reading.seconds));
    row.emplace_back(rate(flow.now.bytes, flow.before.bytes, reading.seconds));
    row.emplace_back(flow.now.messages);
    row.emplace_back(flow.now.bytes);
    table.rows.push_back(std::move(row));
  }
  sort_rows(table, sort.value_or(SortBy::bytes_per_s));
  return table;
}

}  // namespace uctrace::live
