#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "log-merger/reports/waits.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

namespace {

// Kind, waiting and causing process, call site of the call that waits, communicator; -2 where rows
// do not tell it apart, -1 where it is not known.
using Key = std::array<std::int64_t, 5>;
constexpr std::int64_t kAll = -2;

struct Sum {
  std::uint64_t count = 0, ns = 0, unknown_ns = 0, moving_ns = 0, registration_ns = 0;
  std::map<std::string, std::uint64_t> moving_ns_of;  // by the way that the late messages went
  std::uint64_t weight() const { return ns + unknown_ns; }
};

// "rndv/get/zcopy over tcp, staged": how a message went, in few words.
class Ways {
 public:
  explicit Ways(const RowSource& source)
      : run_(source.run()),
        messages_(source, Paths::of_messages() | Wanted<Message>{&Message::protocol}),
        paths_(source, Wanted<Hop>{&Hop::role, &Hop::transport}) {}

  std::string operator()(std::int64_t number) {
    const Message message = messages_.row(static_cast<std::size_t>(number));
    std::set<std::string> transports;
    bool staged = false;
    for (const Hop& hop : paths_(message)) {
      if (hop.role == Role::data) transports.insert(run_.texts[hop.transport]);
      staged |= hop.role == Role::staging;
    }
    std::string way = message.protocol == kNoText ? "?" : run_.texts[message.protocol];
    if (!transports.empty()) way += fmt::format(" over {}", fmt::join(transports, "+"));
    return staged ? way + ", staged" : way;
  }

 private:
  const Run& run_;
  RowWindow<Message> messages_;
  Paths paths_;
};

Cell slowest_way(const Sum& sum) {
  const auto most =
      std::max_element(sum.moving_ns_of.begin(), sum.moving_ns_of.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sum.moving_ns_of.end() ? Cell{} : Cell{most->first};
}

class Choice {
 public:
  Choice(const RowSource& source, const WaitsFilter& filter) : filter_(filter) {
    require_span(filter.from_ns, filter.to_ns);
    const Run& run = source.run();
    std::multimap<std::string, std::int32_t> ranks, comms, kinds;
    const Labels labels(run);
    for (std::size_t i = 0; i < run.processes.size(); ++i) {
      ranks.emplace(labels.of_processes()[i], static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i < run.communicators.size(); ++i) {
      const Communicator& comm = run.communicators[i];
      comms.emplace(run.texts[comm.name], static_cast<std::int32_t>(i));
      if (comm.user_name != kNoText && comm.user_name != comm.name) {
        comms.emplace(run.texts[comm.user_name], static_cast<std::int32_t>(i));
      }
    }
    for (std::size_t i = 0; i < kWaitKinds; ++i) {
      kinds.emplace(name_of(static_cast<WaitKind>(i)), static_cast<std::int32_t>(i));
    }
    ranks_ = choose(filter.rank, "rank", ranks);
    comms_ = choose(filter.comm, "comm", comms);
    kinds_ = choose(filter.kind, "kind", kinds);
  }

  bool accepts(const Wait& wait) const {
    const auto start = static_cast<std::uint64_t>(std::max<std::int64_t>(0, wait.t_start_ns));
    return (!ranks_ || ranks_->contains(static_cast<std::int32_t>(wait.process)) ||
            ranks_->contains(wait.cause_process)) &&
           (!comms_ || comms_->contains(wait.communicator)) &&
           (!kinds_ || kinds_->contains(static_cast<std::int32_t>(wait.kind))) &&
           start >= filter_.from_ns.value_or(0) && start < filter_.to_ns.value_or(UINT64_MAX);
  }

 private:
  const WaitsFilter& filter_;
  std::optional<std::set<std::int32_t>> ranks_, comms_, kinds_;
};

Key key_of(const Wait& wait, std::int32_t call_site, WaitsBy by) {
  Key key{static_cast<std::int64_t>(wait.kind), wait.process, wait.cause_process, call_site,
          wait.communicator};
  const auto keep = [&](bool waiting, bool causing, bool site, bool comm) {
    if (!waiting) key[1] = kAll;
    if (!causing) key[2] = kAll;
    if (!site) key[3] = kAll;
    if (!comm) key[4] = kAll;
  };
  switch (by) {
    case WaitsBy::all:
      break;
    case WaitsBy::pair:
      keep(true, true, false, false);
      break;
    case WaitsBy::rank:
      keep(true, false, false, false);
      break;
    case WaitsBy::call_site:
      keep(false, false, true, false);
      break;
    case WaitsBy::kind:
      keep(false, false, false, false);
      break;
  }
  return key;
}

// A message that a wait was for. They are looked at in their own order: waits are by process,
// messages by time.
struct Late {
  std::int64_t message;
  std::uint64_t moving_ns;
  Sum* sum;
};

void add_ways(const RowSource& source, std::vector<Late> late) {
  std::sort(late.begin(), late.end(),
            [](const Late& a, const Late& b) { return a.message < b.message; });
  Ways ways(source);
  for (const Late& one : late) one.sum->moving_ns_of[ways(one.message)] += one.moving_ns;
}

std::map<Key, Sum> sums_of(const RowSource& source, const Choice& choice, WaitsBy by) {
  std::map<Key, Sum> sums;
  const Run& run = source.run();
  RowWindow<MpiCallRow> calls(source, Wanted<MpiCallRow>{&MpiCallRow::stack});
  std::vector<Late> late;
  const bool wants_site = by == WaitsBy::all || by == WaitsBy::call_site;
  for_each_row(source, Wanted<Wait>::all(), [&](const Wait& wait, std::size_t) {
    if (!choice.accepts(wait)) return;
    std::int32_t site = -1;
    if (wants_site && wait.call >= 0) {
      site = call_site_at(run, calls.row(static_cast<std::size_t>(wait.call)).stack);
    }
    Sum& sum = sums[key_of(wait, site, by)];
    ++sum.count;
    sum.ns += static_cast<std::uint64_t>(wait.ns);
    sum.unknown_ns += static_cast<std::uint64_t>(wait.unknown_ns);
    sum.moving_ns += static_cast<std::uint64_t>(wait.moving_ns);
    sum.registration_ns += static_cast<std::uint64_t>(wait.registration_ns);
    if (wait.message >= 0) {
      late.push_back({wait.message, static_cast<std::uint64_t>(wait.moving_ns), &sum});
    }
  });
  add_ways(source, std::move(late));
  return sums;
}

}  // namespace

Table waits_table(const RowSource& source, const WaitsFilter& filter, const WaitsOptions& options) {
  const Run& run = source.run();
  Table table{.key = "waits",
              .title = "Waits, and time of which it is not known",
              .columns = {{"kind", "kind"},
                          {"waiting_rank", "waits"},
                          {"causing_rank", "for"},
                          {"call_site", "call site"},
                          {"comm", "communicator", Unit::text, true},
                          {"count", "count", Unit::count},
                          {"time_ns", "waited", Unit::nanoseconds},
                          {"unknown_ns", "unknown", Unit::nanoseconds},
                          {"moving_ns", "then moving", Unit::nanoseconds, true},
                          {"registration_ns", "registering", Unit::nanoseconds, true},
                          {"way", "mostly by", Unit::text, true}},
              .rows = {}};
  const std::map<Key, Sum> sums = sums_of(source, Choice(source, filter), options.by);
  std::vector<std::pair<const Key*, const Sum*>> sorted;
  for (const auto& [key, sum] : sums) sorted.emplace_back(&key, &sum);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second->weight() > b.second->weight();
  });
  const Labels labels(run);
  // A rank that has no other name is a number, as in the other outputs.
  const auto rank = [&](std::int64_t process) -> Cell {
    if (process < 0) return {};
    const Process& row = run.processes[static_cast<std::size_t>(process)];
    const std::string& label = labels.of_processes()[static_cast<std::size_t>(process)];
    if (label == std::to_string(row.rank)) return static_cast<std::uint64_t>(row.rank);
    return label;
  };
  for (const auto& [key, sum] : sorted) {
    const auto& [kind, waiting, causing, site, comm] = *key;
    const Cell site_cell =
        site < 0 ? Cell{} : Cell{run.texts[run.call_sites[static_cast<std::size_t>(site)].label]};
    const Cell comm_cell =
        comm < 0 ? Cell{} : Cell{run.texts[run.communicators[static_cast<std::size_t>(comm)].name]};
    table.rows.push_back({std::string(name_of(static_cast<WaitKind>(kind))), rank(waiting),
                          rank(causing), site_cell, comm_cell, sum->count, sum->ns, sum->unknown_ns,
                          sum->moving_ns, sum->registration_ns, slowest_way(*sum)});
  }
  if (options.limit) table.keep_first(*options.limit);
  return table;
}

}  // namespace uctrace
