#include "log-merger/reports/connection_table.hpp"

#include <string>

#include "log-merger/reports/cells.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {
namespace {

Cell known_time(std::int64_t ns) { return ns < 0 ? Cell{} : time_cell(ns); }

}  // namespace

Table connection_table(const Run& run, const Connections& connections) {
  Table table{
      .key = "connections",
      .title = "By transport and device: UCT endpoints (UCX's lanes), and what waited for them",
      .columns = {{"transport", "transport"},
                  {"device", "device"},
                  {"made_by", "made by"},
                  {"endpoints", "endpoints", Unit::count},
                  {"unused", "unused", Unit::count},
                  {"connected", "connected", Unit::count, true},
                  {"mean_wireup_ns", "wire-up, mean", Unit::nanoseconds, true},
                  {"max_wireup_ns", "longest", Unit::nanoseconds, true},
                  {"waited", "messages waited", Unit::count},
                  {"waited_ns", "waited", Unit::nanoseconds},
                  {"max_waited_ns", "longest wait", Unit::nanoseconds},
                  {"bytes", "payload", Unit::bytes}},
      .rows = {}};
  for (const ConnectionTotal& total : connections.totals) {
    table.rows.push_back({text_cell(run, total.transport), text_cell(run, total.device),
                          std::string(name_of(total.made_by)), total.endpoints, total.unused,
                          total.connected, mean_time_cell(total.wireup_ns, total.connected),
                          total.connected == 0 ? Cell{} : time_cell(total.max_wireup_ns),
                          total.waited, time_cell(total.waited_ns), time_cell(total.max_waited_ns),
                          total.payload_bytes});
  }
  return table;
}

Table slow_connection_table(const Run& run, const Connections& connections) {
  Table table{.key = "slow_connections",
              .title = "Connections that a message waited for, the longest first",
              .columns = {{"process", "process"},
                          {"peer", "to"},
                          {"transport", "transport"},
                          {"device", "device"},
                          {"waited_ns", "waited", Unit::nanoseconds},
                          {"creation_ns", "making the UCP endpoint", Unit::nanoseconds, true},
                          {"carried", "carried", Unit::text, true},
                          {"message", "message", Unit::count}},
              .rows = {}};
  const Labels labels(run);
  const auto party = [&](std::int32_t process) {
    return process < 0 ? Cell{} : Cell{labels.of_processes()[static_cast<std::size_t>(process)]};
  };
  for (const ConnectionRow& row : connections.slowest) {
    table.rows.push_back({party(static_cast<std::int32_t>(row.process)), party(row.peer_process),
                          text_cell(run, row.transport), text_cell(run, row.device),
                          time_cell(row.waited_ns), known_time(row.creation_ns),
                          text_cell(run, row.carried),
                          static_cast<std::uint64_t>(row.first_message)});
  }
  return table;
}

}  // namespace uctrace
