#include "log-merger/summaries/registrations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace uctrace {
namespace {

// Which messages are selected, by number; empty: all are.
std::vector<bool> selected_messages(const RowSource& source, const Filter& filter) {
  std::vector<bool> selected;
  if (filter.takes_all()) return selected;
  selected.resize(source.count<Message>());
  for_each_message(source, filter.of_messages(), filter.of_paths(),
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     selected[number] = filter.selects(message, path);
                   });
  return selected;
}

const Wanted<MemoryCallRow> kWanted = {&MemoryCallRow::message,    &MemoryCallRow::memory_domain,
                                       &MemoryCallRow::function,   &MemoryCallRow::memory,
                                       &MemoryCallRow::status,     &MemoryCallRow::bytes,
                                       &MemoryCallRow::first_use,  &MemoryCallRow::outermost,
                                       &MemoryCallRow::t_start_ns, &MemoryCallRow::t_end_ns};

// One row's totals; calls come by message.
struct Totals {
  RegistrationTotal total;
  std::int64_t last_message = -1;

  void add(const MemoryCallRow& call, bool succeeded) {
    ++total.calls;
    total.failed += !succeeded;
    if (succeeded) total.bytes += call.bytes;
    total.first_uses += call.first_use;
    total.messages += call.message >= 0 && call.message != last_message;
    last_message = call.message;
    const std::int64_t ns = call.t_end_ns - call.t_start_ns;
    total.ns += ns;
    total.max_ns = std::max(total.max_ns, ns);
    if (call.outermost) total.own_ns += ns;
  }
};

}  // namespace

std::vector<RegistrationTotal> registration_totals(const RowSource& source, const Filter& filter) {
  const Run& run = source.run();
  const std::vector<bool> selected = selected_messages(source, filter);
  const bool takes_all = filter.takes_all();
  const TextId ok = run.texts.find("UCS_OK");
  std::map<std::tuple<TextId, TextId, MemoryKind>, Totals> rows;
  for_each_row(source, kWanted, [&](const MemoryCallRow& call, std::size_t) {
    const bool is_chosen =
        takes_all || (call.message >= 0 && selected[static_cast<std::size_t>(call.message)]);
    if (!is_chosen) return;
    Totals& row = rows[{call.memory_domain, call.function, call.memory}];
    row.total.memory_domain = call.memory_domain;
    row.total.function = call.function;
    row.total.memory = call.memory;
    row.add(call, call.status == ok);
  });
  std::vector<RegistrationTotal> totals;
  for (const auto& [key, row] : rows) totals.push_back(row.total);
  std::stable_sort(totals.begin(), totals.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const RegistrationTotal& row) {
      return std::make_tuple(-row.own_ns, -row.ns, run.texts[row.memory_domain],
                             run.texts[row.function], row.memory);
    };
    return rank(a) < rank(b);
  });
  return totals;
}

std::vector<DomainUse> uses_by_domain(const Run& run) {
  std::map<std::string, DomainUse> domains;
  for (const RegistrationUse& use : run.registration_uses) {
    DomainUse& sum = domains[run.texts[use.memory_domain]];
    sum.memory_domain = use.memory_domain;
    sum.operations += use.operations;
    sum.registered += use.registered;
    sum.live += use.live;
    sum.live_bytes += use.live_bytes;
  }
  std::vector<DomainUse> sums;
  for (const auto& [name, sum] : domains) sums.push_back(sum);
  return sums;
}

}  // namespace uctrace
