#include "log-merger/reports/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "log-merger/reports/cells.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {
namespace {

// Some names, and how many more there are.
Cell names_cell(const Run& run, const std::set<TextId>& ids) {
  constexpr std::size_t kNamed = 3;
  std::set<std::string> names;
  for (const TextId id : ids) names.insert(run.texts[id]);
  std::string cell;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kNamed) break;
    cell += (cell.empty() ? "" : ", ") + name;
  }
  if (names.size() > kNamed) cell += fmt::format(" and {} more", names.size() - kNamed);
  return cell.empty() ? Cell{} : Cell{cell};
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

struct Carried {
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;

  void add(const Contender& contender) {
    transfers += contender.transfers;
    bytes += contender.bytes;
  }
};

std::set<std::string> greatest(const std::map<std::string, Carried>& sums, std::size_t count) {
  std::vector<std::pair<std::string, Carried>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.bytes, a.second.transfers) >
           std::tie(b.second.bytes, b.second.transfers);
  });
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) names.insert(sorted[i].first);
  return names;
}

}  // namespace

// --- contenders ------------------------------------------------------------------------------

Table contender_table(const Run& run, const std::vector<Contender>& rows) {
  Carried total;
  for (const Contender& row : rows) total.add(row);
  Table table{.key = "contenders",
              .title = "Top contenders",
              .columns = {{"transport", "transport"},
                          {"op", "operation"},
                          {"transfers", "transfers", Unit::count},
                          {"bytes", "payload", Unit::bytes},
                          {"wire_bytes", "with headers", Unit::bytes},
                          {"transfers_percent", "transfers %", Unit::percent},
                          {"bytes_percent", "payload %", Unit::percent}},
              .rows = {}};
  for (const Contender& row : rows) {
    table.rows.push_back({text_cell(run, row.transport), text_cell(run, row.op), row.transfers,
                          row.bytes, row.wire_bytes, percent_of(row.transfers, total.transfers),
                          percent_of(row.bytes, total.bytes)});
  }
  return table;
}

Table contender_matrix(const Run& run, const std::vector<Contender>& rows,
                       std::optional<std::size_t> limit) {
  std::map<std::string, Carried> operations, transports;
  std::map<std::pair<std::string, std::string>, Carried> cells;
  Carried total;
  const auto name = [&](TextId id) { return id == kNoText ? "unknown" : run.texts[id]; };
  for (const Contender& row : rows) {
    operations[name(row.op)].add(row);
    transports[name(row.transport)].add(row);
    cells[{name(row.op), name(row.transport)}].add(row);
    total.add(row);
  }
  const auto share = [&](const Carried& sum) {
    return fmt::format("{:.1f} ({:.1f})", percent_of(sum.bytes, total.bytes),
                       percent_of(sum.transfers, total.transfers));
  };
  Table table{.key = "contenders",
              .title = fmt::format("Top contenders: payload % (transfers %) of {} in {} transfers",
                                   format_bytes(total.bytes), total.transfers),
              .columns = {{"op", "operation"}},
              .rows = {}};
  for (const auto& [transport, sum] : transports) {
    table.columns.push_back({transport, transport, Unit::percent, true});
  }
  table.columns.push_back({"total", "total", Unit::percent});
  const std::set<std::string> kept = greatest(operations, limit.value_or(operations.size()));
  table.hidden_rows = operations.size() - kept.size();
  for (const auto& [operation, sum] : operations) {
    if (!kept.contains(operation)) continue;
    auto& row = table.rows.emplace_back(std::vector<Cell>{operation});
    for (const auto& [transport, column] : transports) {
      row.emplace_back(share(cells[{operation, transport}]));
    }
    row.emplace_back(share(sum));
  }
  if (!rows.empty()) {
    auto& row = table.rows.emplace_back(std::vector<Cell>{std::string("total")});
    for (const auto& [transport, sum] : transports) row.emplace_back(share(sum));
    row.emplace_back(share(total));
  }
  return table;
}

// --- functions and pairs -----------------------------------------------------------------------

Table function_table(const Run& run, const std::vector<FunctionTotal>& rows) {
  Table table{.key = "mpi",
              .title = "By MPI function that asked",
              .columns = {{"mpi", "function"},
                          {"messages", "messages", Unit::count},
                          {"bytes", "payload", Unit::bytes},
                          {"mean_bytes", "mean", Unit::bytes},
                          {"calls", "calls", Unit::count},
                          {"asked_bytes", "by arguments", Unit::bytes, true},
                          {"time_ns", "time, all ranks", Unit::nanoseconds},
                          {"comms", "communicators", Unit::text, true}},
              .rows = {}};
  for (const FunctionTotal& row : rows) {
    table.rows.push_back({text_cell(run, row.function), row.messages, row.bytes,
                          row.messages == 0 ? Cell{} : Cell{row.bytes / row.messages},
                          number_cell(row.calls), number_cell(row.asked_bytes),
                          number_cell(row.time_ns), names_cell(run, row.comms)});
  }
  return table;
}

Table pair_table(const Run& run, const std::vector<PairTotal>& rows) {
  const Labels labels(run);
  // A number if the label is one, for programs that compare ranks.
  const auto name = [&](Party party) -> Cell {
    const std::string label = labels(party);
    if (party == Party{}) return {};
    return label == std::to_string(party.rank) ? Cell{static_cast<std::uint64_t>(party.rank)}
                                               : Cell{label};
  };
  const auto host = [&](Party party) {
    return party.process < 0
               ? Cell{}
               : text_cell(run, run.processes[static_cast<std::size_t>(party.process)].host);
  };
  Table table{.key = "pairs",
              .title = "By rank pair (source -> destination of the data)",
              .columns = {{"src", "source"},
                          {"dst", "destination"},
                          {"messages", "messages", Unit::count},
                          {"bytes", "payload", Unit::bytes},
                          {"mean_bytes", "mean", Unit::bytes},
                          {"src_host", "source host", Unit::text, true},
                          {"dst_host", "destination host", Unit::text, true}},
              .rows = {}};
  for (const PairTotal& row : rows) {
    table.rows.push_back({name(row.source), name(row.destination), row.messages, row.bytes,
                          row.bytes / std::max<std::uint64_t>(row.messages, 1), host(row.source),
                          host(row.destination)});
  }
  return table;
}

Table call_site_table(const Run& run, const std::vector<CallSiteTotal>& rows) {
  const Labels labels(run);
  Table table{.key = "call_sites",
              .title = "By call site: the line of the program that calls",
              .columns = {{"call_site", "call site"},
                          {"function", "function"},
                          {"calls", "calls", Unit::count},
                          {"time_ns", "time, all ranks", Unit::nanoseconds},
                          {"asked_bytes", "by arguments", Unit::bytes, true},
                          {"ranks", "ranks", Unit::count},
                          {"file", "file"},
                          {"line", "line", Unit::count},
                          {"module", "program or library"}},
              .rows = {}};
  for (const CallSiteTotal& row : rows) {
    const CallSite site =
        row.call_site < 0 ? CallSite{} : run.call_sites[static_cast<std::size_t>(row.call_site)];
    table.rows.push_back(
        {text_cell(run, site.label), text_cell(run, row.function), row.calls, row.time_ns,
         row.bytes, std::uint64_t{row.processes.size()}, text_cell(run, site.file),
         site.line == 0 ? Cell{} : Cell{std::uint64_t{site.line}}, text_cell(run, site.module)});
  }
  return table;
}

Table call_site_text(const Run& run, const std::vector<CallSiteTotal>& rows) {
  constexpr std::size_t kShown = 6;
  Table table = call_site_table(run, rows);
  table.columns.resize(kShown);
  for (auto& row : table.rows) row.resize(kShown);
  return table;
}

}  // namespace uctrace
