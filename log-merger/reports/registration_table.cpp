#include "log-merger/reports/registration_table.hpp"

#include <fmt/format.h>

#include "log-merger/model/durations.hpp"
#include "log-merger/reports/cells.hpp"

namespace uctrace {
namespace {

// Nothing is known about calls that do not name their memory.
Cell memory_cell(MemoryKind memory) {
  return memory == MemoryKind::unknown ? Cell{} : Cell{std::string(name_of(memory))};
}

}  // namespace

Table registration_table(const Run& run, const std::vector<RegistrationSum>& sums) {
  std::int64_t own_ns = 0;
  std::uint64_t calls = 0;
  for (const RegistrationSum& row : sums) {
    add_ns(own_ns, row.own_ns);
    calls += row.calls;
  }
  Table table{
      .key = "registration",
      .title = fmt::format("By registration: {} calls that make memory known to others, {} in all",
                           calls, format_duration(static_cast<std::uint64_t>(own_ns))),
      .columns = {{"memory_domain", "memory domain"},
                  {"function", "function"},
                  {"memory", "memory", Unit::text, true},
                  {"calls", "calls", Unit::count},
                  {"failed", "failed", Unit::count, true},
                  {"bytes", "bytes", Unit::bytes},
                  {"first_uses", "first use", Unit::count},
                  {"messages", "messages", Unit::count},
                  {"time_ns", "time", Unit::nanoseconds},
                  {"own_ns", "not in others", Unit::nanoseconds, true},
                  {"mean_ns", "mean", Unit::nanoseconds},
                  {"max_ns", "longest", Unit::nanoseconds}},
      .rows = {}};
  for (const RegistrationSum& row : sums) {
    table.rows.push_back({text_cell(run, row.memory_domain), text_cell(run, row.function),
                          memory_cell(row.memory), row.calls, row.failed, row.bytes, row.first_uses,
                          row.messages, time_cell(row.ns), time_cell(row.own_ns),
                          mean_time_cell(row.ns, row.calls), time_cell(row.max_ns)});
  }
  return table;
}

Table registration_use_table(const Run& run) {
  Table table{.key = "registration_use",
              .title = "Operations without a copy, by whether they found their memory registered",
              .columns = {{"memory_domain", "memory domain"},
                          {"operations", "operations", Unit::count},
                          {"found", "found it registered", Unit::count},
                          {"registered", "registered it", Unit::count},
                          {"live", "registered at the end", Unit::count},
                          {"live_bytes", "of bytes", Unit::bytes}},
              .rows = {}};
  for (const DomainUse& use : uses_by_domain(run)) {
    table.rows.push_back({text_cell(run, use.memory_domain), use.operations,
                          use.operations - use.registered, use.registered, use.live,
                          use.live_bytes});
  }
  return table;
}

}  // namespace uctrace
