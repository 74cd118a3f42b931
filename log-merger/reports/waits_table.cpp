#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "log-merger/reports/waits.hpp"
#include "log-merger/summaries/call_paths.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/names.hpp"

namespace uctrace {

namespace {

// The parts of a row's key.
enum Part : std::size_t {
  kKind,
  kWaiting,
  kCausing,
  kSite,
  kCauseSite,
  kPath,
  kComm,
  kInterval,
  kParts
};

// -2 if not part of the key, -1 if not known.
using Key = std::array<std::int64_t, kParts>;
constexpr std::int64_t kAll = -2;

// Those parts, besides the kind.
std::vector<Part> parts_of(WaitsBy by) {
  switch (by) {
    case WaitsBy::all:
      return {kWaiting, kCausing, kSite, kCauseSite, kComm};
    case WaitsBy::pair:
      return {kWaiting, kCausing};
    case WaitsBy::rank:
      return {kWaiting};
    case WaitsBy::call_site:
      return {kSite};
    case WaitsBy::call_path:
      return {kPath};
    case WaitsBy::comm:
      return {kComm};
    case WaitsBy::time:
      return {kInterval};
    case WaitsBy::kind:
      break;
  }
  return {};
}

struct Sum {
  std::uint64_t count = 0, ns = 0, unknown_ns = 0, moving_ns = 0, registration_ns = 0;
  std::map<std::string, std::uint64_t> moving_ns_of;  // by the path of the late messages
  std::uint64_t weight() const { return ns + unknown_ns; }
};

// "rndv/get/zcopy over tcp, staged": a short description of a message's path.
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
    const Run& run = source.run();
    require_span(run, filter.from_ns, filter.to_ns);
    RowsByName kinds;
    for (const WaitKind kind : kAllWaitKinds) {
      kinds.emplace(name_of(kind), static_cast<std::int32_t>(kind));
    }
    ranks_ = choose(filter.rank, "rank", processes_by_rank(run));
    hosts_ = choose(filter.host, "host", processes_by_host(run));
    comms_ = choose(filter.comm, "comm", communicators_by_name(run));
    kinds_ = choose(filter.kind, "kind", kinds);
    if (!filter.mpi.empty()) choose_calls(source);
  }

  bool accepts(const Wait& wait) const {
    const auto start = static_cast<std::uint64_t>(std::max<std::int64_t>(0, wait.t_start_ns));
    return has_end_in(ranks_, wait) && has_end_in(hosts_, wait) &&
           (!comms_ || comms_->contains(wait.communicator)) &&
           (!kinds_ || kinds_->contains(static_cast<std::int32_t>(wait.kind))) &&
           (filter_.mpi.empty() || is_of_chosen(wait.call)) &&
           start >= filter_.from_ns.value_or(0) && start < filter_.to_ns.value_or(UINT64_MAX);
  }

 private:
  using Chosen = std::optional<std::set<std::int32_t>>;

  // Who waited, or was waited for.
  static bool has_end_in(const Chosen& processes, const Wait& wait) {
    return !processes || processes->contains(static_cast<std::int32_t>(wait.process)) ||
           processes->contains(wait.cause_process);
  }

  bool is_of_chosen(std::int64_t call) const {
    return call >= 0 && calls_[static_cast<std::size_t>(call)];
  }

  // Waits do not have the functions of their calls, so there is a bit for each call.
  void choose_calls(const RowSource& source) {
    const std::set<TextId> chosen = *choose(filter_.mpi, "mpi", called_functions_by_name(source));
    calls_.reserve(source.count<MpiCallRow>());
    for_each_row(source, Wanted<MpiCallRow>{&MpiCallRow::function},
                 [&](const MpiCallRow& call, std::size_t) {
                   calls_.push_back(chosen.contains(call.function));
                 });
  }

  const WaitsFilter& filter_;
  Chosen ranks_, hosts_, comms_, kinds_;
  std::vector<bool> calls_;  // the selected ones; empty if none are requested
};

// A message that a wait was for. Read in message order: waits are sorted by process, messages by
// time.
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

class Summing {
 public:
  Summing(const RowSource& source, const WaitsOptions& options, CallPaths& paths)
      : source_(source), options_(options), paths_(paths), parts_(parts_of(options.by)) {
    const auto tells = [&](Part part) {
      return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
    };
    if (tells(kSite) || tells(kPath)) list_stacks();
  }

  std::map<Key, Sum> sums(const Choice& choice) {
    std::map<Key, Sum> sums;
    std::vector<Late> late;
    for_each_row(source_, Wanted<Wait>::all(), [&](const Wait& wait, std::size_t) {
      if (!choice.accepts(wait)) return;
      const auto moving_ns = static_cast<std::uint64_t>(wait.moving_ns);
      Sum& sum = sums[key_of(wait)];
      ++sum.count;
      sum.ns += static_cast<std::uint64_t>(wait.ns);
      sum.unknown_ns += static_cast<std::uint64_t>(wait.unknown_ns);
      sum.moving_ns += moving_ns;
      sum.registration_ns += static_cast<std::uint64_t>(wait.registration_ns);
      if (wait.message >= 0) late.push_back({wait.message, moving_ns, &sum});
    });
    add_ways(source_, std::move(late));
    return sums;
  }

 private:
  Key key_of(const Wait& wait) {
    Key key;
    key.fill(kAll);
    key[kKind] = static_cast<std::int64_t>(wait.kind);
    for (const Part part : parts_) key[part] = value_of(wait, part);
    return key;
  }

  std::int64_t value_of(const Wait& wait, Part part) {
    switch (part) {
      case kWaiting:
        return wait.process;
      case kCausing:
        return wait.cause_process;
      case kSite:
        return call_site_at(source_.run(), stack_of(wait.call));
      case kCauseSite:
        return call_site_at(source_.run(), stack_of(wait.cause_call));
      case kPath:
        return paths_.number_of(stack_of(wait.call));
      case kComm:
        return wait.communicator;
      case kInterval:
        return std::max<std::int64_t>(0, wait.t_start_ns) /
               static_cast<std::int64_t>(options_.interval_ns);
      case kKind:
      case kParts:
        break;
    }
    return kAll;
  }

  // Calls are sorted by process, and a wait has calls of two processes: so they are not in order.
  void list_stacks() {
    stack_of_call_.reserve(source_.count<MpiCallRow>());
    for_each_row(
        source_, Wanted<MpiCallRow>{&MpiCallRow::stack},
        [&](const MpiCallRow& call, std::size_t) { stack_of_call_.push_back(call.stack); });
  }

  std::int32_t stack_of(std::int64_t call) const {
    return call < 0 ? -1 : stack_of_call_[static_cast<std::size_t>(call)];
  }

  const RowSource& source_;
  const WaitsOptions& options_;
  CallPaths& paths_;
  const std::vector<Part> parts_;
  std::vector<std::int32_t> stack_of_call_;  // into stacks
};

Column column_of(Part part) {
  switch (part) {
    case kWaiting:
      return {"waiting_rank", "waits"};
    case kCausing:
      return {"causing_rank", "for"};
    case kSite:
      return {"call_site", "call site"};
    case kCauseSite:
      return {"cause_call_site", "which was late at", Unit::text, true};
    case kPath:
      return {"call_path", "call path, innermost first"};
    case kComm:
      return {"comm", "communicator", Unit::text, true};
    case kInterval:
      return {"from_ns", "from", Unit::nanoseconds};
    case kKind:
    case kParts:
      break;
  }
  return {"kind", "kind"};
}

class Cells {
 public:
  Cells(const Run& run, const WaitsOptions& options, const CallPaths& paths)
      : run_(run), options_(options), paths_(paths), labels_(run) {}

  Cell operator()(Part part, std::int64_t value) const {
    if (value < 0) return {};
    const auto place = static_cast<std::size_t>(value);
    switch (part) {
      case kWaiting:
      case kCausing:
        return rank(place);
      case kSite:
      case kCauseSite:
        return run_.texts[run_.call_sites[place].label];
      case kPath:
        return paths_.text(place);
      case kComm:
        return run_.texts[run_.communicators[place].name];
      case kInterval:
        return static_cast<std::uint64_t>(value) * options_.interval_ns;
      case kKind:
        return std::string(name_of(static_cast<WaitKind>(value)));
      case kParts:
        break;
    }
    return {};
  }

 private:
  // A rank that has no other name is a number, as in the other outputs.
  Cell rank(std::size_t process) const {
    const Process& row = run_.processes[process];
    const std::string& label = labels_.of_processes()[process];
    if (label == std::to_string(row.rank)) return static_cast<std::uint64_t>(row.rank);
    return label;
  }

  const Run& run_;
  const WaitsOptions& options_;
  const CallPaths& paths_;
  const Labels labels_;
};

// Grouped by interval, in order. Waiting comes before completions, in which data moves; the longest
// first.
bool comes_first(const std::pair<const Key*, const Sum*>& a,
                 const std::pair<const Key*, const Sum*>& b) {
  const auto rank = [](const std::pair<const Key*, const Sum*>& row) {
    const auto& [key, sum] = row;
    return std::tuple((*key)[kInterval], !is_waiting(static_cast<WaitKind>((*key)[kKind])),
                      UINT64_MAX - sum->weight());
  };
  return rank(a) < rank(b);
}

// Columns for the parts of the key. Programs always get all of them, with null for unused parts.
std::vector<Part> columns_of(const WaitsOptions& options) {
  std::vector<Part> parts = parts_of(options.by);
  if (options.format != Format::table) {
    parts = parts_of(WaitsBy::all);
    if (options.by == WaitsBy::time) parts.push_back(kInterval);
    if (options.by == WaitsBy::call_path) parts.push_back(kPath);
  }
  parts.insert(parts.begin(), kKind);
  return parts;
}

}  // namespace

Table waits_table(const RowSource& source, const WaitsFilter& filter, const WaitsOptions& options) {
  const Run& run = source.run();
  const std::vector<Part> parts = columns_of(options);
  Table table{.key = "waits",
              .title = "Waits, and time of which it is not known",
              .columns = {},
              .rows = {}};
  for (const Part part : parts) table.columns.push_back(column_of(part));
  table.columns.insert(table.columns.end(),
                       {{"count", "count", Unit::count},
                        {"time_ns", "time", Unit::nanoseconds},
                        {"unknown_ns", "unknown", Unit::nanoseconds},
                        {"moving_ns", "then moving", Unit::nanoseconds, true},
                        {"registration_ns", "registering", Unit::nanoseconds, true},
                        {"way", "mostly by", Unit::text, true}});
  CallPaths paths(run);
  const std::map<Key, Sum> sums = Summing(source, options, paths).sums(Choice(source, filter));
  std::vector<std::pair<const Key*, const Sum*>> sorted;
  for (const auto& [key, sum] : sums) sorted.emplace_back(&key, &sum);
  std::stable_sort(sorted.begin(), sorted.end(), comes_first);
  const Cells cells(run, options, paths);
  for (const auto& [key, sum] : sorted) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const Part part : parts) row.push_back(cells(part, (*key)[part]));
    row.insert(row.end(), {sum->count, sum->ns, sum->unknown_ns, sum->moving_ns,
                           sum->registration_ns, slowest_way(*sum)});
  }
  if (options.limit) table.keep_first(*options.limit);
  return table;
}

}  // namespace uctrace
