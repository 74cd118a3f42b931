#include "log-merger/summaries/registrations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/model/durations.hpp"

namespace uctrace {
namespace {

// Which messages are selected, by number.
std::vector<bool> selected_messages(const RowSource& source, const Filter& filter) {
  std::vector<bool> selected(source.count<Message>());
  for_each_message(source, filter.of_messages(), filter.of_paths(),
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     selected[number] = filter.selects(message, path);
                   });
  return selected;
}

const Wanted<MemoryCallRow> kWanted = {
    &MemoryCallRow::message,   &MemoryCallRow::memory_domain, &MemoryCallRow::function,
    &MemoryCallRow::memory,    &MemoryCallRow::status,        &MemoryCallRow::bytes,
    &MemoryCallRow::action,    &MemoryCallRow::repeats,       &MemoryCallRow::first_use,
    &MemoryCallRow::outermost, &MemoryCallRow::t_start_ns,    &MemoryCallRow::t_end_ns};

// Calls come by message.
struct Totals {
  RegistrationSum total;
  std::int64_t last_message = -1;

  void add(const MemoryCallRow& call, bool succeeded) {
    ++total.calls;
    total.failed += !succeeded;
    if (succeeded) total.bytes += call.bytes;
    total.registrations +=
        succeeded && !call.repeats && call.action == MemoryCallAction::registration;
    total.first_uses += call.first_use;
    total.messages += call.message >= 0 && call.message != last_message;
    last_message = call.message;
    const std::int64_t ns = duration_ns(call.t_start_ns, call.t_end_ns);
    add_ns(total.ns, ns);
    total.max_ns = std::max(total.max_ns, ns);
    if (!call.outermost) return;
    add_ns(total.own_ns, ns);
    if (call.message >= 0) add_ns(total.for_messages_ns, ns);
  }
};

class Sums {
 public:
  explicit Sums(const Run& run) : run_(run), ok_(run.texts.find("UCS_OK")) {}

  void add(const MemoryCallRow& call) {
    Totals& row = rows_[{call.memory_domain, call.function, call.memory}];
    row.total.memory_domain = call.memory_domain;
    row.total.function = call.function;
    row.total.memory = call.memory;
    row.add(call, call.status == ok_);
  }

  std::vector<RegistrationSum> finish() && {
    std::vector<RegistrationSum> sums;
    for (const auto& [key, row] : rows_) sums.push_back(row.total);
    std::stable_sort(sums.begin(), sums.end(), [&](const auto& a, const auto& b) {
      const auto rank = [&](const RegistrationSum& row) {
        return std::make_tuple(-row.own_ns, -row.ns, run_.texts[row.memory_domain],
                               run_.texts[row.function], row.memory);
      };
      return rank(a) < rank(b);
    });
    return sums;
  }

 private:
  const Run& run_;
  TextId ok_;
  std::map<std::tuple<TextId, TextId, MemoryKind>, Totals> rows_;
};

}  // namespace

std::vector<RegistrationSum> registration_sums(const RowSource& source, const Filter& filter) {
  if (filter.takes_all()) return source.run().registration_sums;
  const std::vector<bool> selected = selected_messages(source, filter);
  Sums sums(source.run());
  for_each_row(source, kWanted, [&](const MemoryCallRow& call, std::size_t) {
    if (call.message >= 0 && selected[static_cast<std::size_t>(call.message)]) sums.add(call);
  });
  return std::move(sums).finish();
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

namespace merge {

void lay_out_registrations(Run& run) {
  Sums sums(run);
  for (const MemoryCallRow& call : run.memory_calls) sums.add(call);
  run.registration_sums = std::move(sums).finish();
}

}  // namespace merge
}  // namespace uctrace
