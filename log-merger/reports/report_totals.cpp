// What a report sums up: by transport and operation, by function, by pair, by call site.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/library_sums.hpp"
#include "log-merger/summaries/numbers.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {

namespace {

// Sums by key, in order of first appearance.
template <std::size_t kCount, typename Sum>
class SumsBy {
 public:
  Sum& at(const summaries::Key<kCount>& key) {
    const auto [number, is_new] = numbers_.of(key);
    if (is_new) sums_.emplace_back();
    return sums_[number];
  }
  std::vector<Sum> release() && { return std::move(sums_); }

 private:
  summaries::Numbers<summaries::Key<kCount>> numbers_;
  std::vector<Sum> sums_;
};

class Contenders {
 public:
  explicit Contenders(const Filter& filter) : filter_(filter) {}

  static Wanted<Hop> of_paths() {
    return {&Hop::transport, &Hop::op, &Hop::count, &Hop::payload_bytes, &Hop::wire_bytes};
  }

  void add(const Traffic& traffic) {
    for (const Hop& hop : traffic.path) {
      if (filter_.accepts(hop)) {
        add(hop.transport, hop.op, hop.count, hop.payload_bytes, hop.wire_bytes);
      }
    }
  }

  void add(const TransfersWithoutMessage& others) {
    add(others.like.transport, others.like.op, others.transfers, others.payload_bytes,
        others.wire_bytes);
  }

  std::vector<Contender> sorted(const Run& run) && {
    std::vector<Contender> rows = std::move(sums_).release();
    const auto rank = [&](const Contender& row) {
      return std::make_tuple(~row.bytes, ~row.transfers, run.texts[row.transport],
                             run.texts[row.op]);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return rows;
  }

 private:
  void add(TextId transport, TextId op, std::uint64_t transfers, std::uint64_t bytes,
           std::uint64_t wire_bytes) {
    Contender& sum = sums_.at(summaries::key_of(transport, op));
    sum.transport = transport;
    sum.op = op;
    sum.transfers += transfers;
    sum.bytes += bytes;
    sum.wire_bytes += wire_bytes;
  }

  const Filter& filter_;
  SumsBy<2, Contender> sums_;
};

class Functions {
 public:
  static Wanted<Message> of_messages() { return {&Message::mpi, &Message::bytes}; }

  void add(const Traffic& traffic) {
    FunctionTotal& sum = of(traffic.like.mpi);
    sum.messages += traffic.messages;
    sum.bytes += traffic.bytes;
  }

  void add(const Calls& calls) {
    FunctionTotal& sum = of(calls.function);
    sum.calls = sum.calls.value_or(0) + calls.calls;
    sum.asked_bytes = sum.asked_bytes.value_or(0) + calls.bytes;
    if (calls.comm != kNoText) sum.comms.insert(calls.comm);
    if (calls.is_timed) sum.time_ns = sum.time_ns.value_or(0) + calls.ns;
  }

  std::vector<FunctionTotal> sorted(const Run& run) && {
    std::vector<FunctionTotal> rows = std::move(sums_).release();
    const auto rank = [&](const FunctionTotal& row) {
      return std::make_tuple(~row.bytes, ~row.messages, ~row.time_ns.value_or(0),
                             run.texts[row.function]);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return rows;
  }

 private:
  FunctionTotal& of(TextId function) {
    FunctionTotal& sum = sums_.at(summaries::key_of(function));
    sum.function = function;
    return sum;
  }

  SumsBy<1, FunctionTotal> sums_;
};

class Pairs {
 public:
  static Wanted<Message> of_messages() {
    using M = Message;
    return {&M::src, &M::src_process, &M::dst, &M::dst_process, &M::bytes};
  }

  void add(const Traffic& traffic) {
    const Party from = source_of(traffic.like), to = destination_of(traffic.like);
    PairTotal& sum = sums_.at(summaries::key_of(from.rank, from.process, to.rank, to.process));
    sum.source = from;
    sum.destination = to;
    sum.messages += traffic.messages;
    sum.bytes += traffic.bytes;
  }

  std::vector<PairTotal> sorted() && {
    std::vector<PairTotal> rows = std::move(sums_).release();
    const auto rank = [](const PairTotal& row) {
      return std::make_tuple(~row.bytes, ~row.messages, row.source, row.destination);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return rows;
  }

 private:
  SumsBy<4, PairTotal> sums_;
};

bool asks(ReportBy by, ReportBy part) { return by == part || by == ReportBy::all; }

}  // namespace

TrafficTotals traffic_totals(const RowSource& source, const Filter& filter, ReportBy by,
                             WithoutMessage rest) {
  const bool asks_contenders = asks(by, ReportBy::contenders), asks_mpi = asks(by, ReportBy::mpi),
             asks_pairs = asks(by, ReportBy::pairs);
  if (!asks_contenders && !asks_mpi && !asks_pairs) return {};
  Contenders contenders(filter);
  Functions functions;
  Pairs pairs;
  const Wanted<Message> wanted = Functions::of_messages() | Pairs::of_messages();
  const Wanted<Hop> of_paths = asks_contenders ? Contenders::of_paths() : Wanted<Hop>();
  for_each_traffic(source, filter, wanted, of_paths, [&](const Traffic& traffic) {
    if (asks_contenders) contenders.add(traffic);
    if ((!asks_mpi && !asks_pairs) || !filter.selects(traffic.like, traffic.path)) return;
    if (asks_mpi) functions.add(traffic);
    if (asks_pairs) pairs.add(traffic);
  });
  if (asks_contenders && rest == WithoutMessage::counted) {
    for_each_without_message(
        source, filter, [&](const TransfersWithoutMessage& others) { contenders.add(others); });
  }
  if (asks_mpi) for_each_calls(source, filter, [&](const Calls& calls) { functions.add(calls); });
  return {std::move(contenders).sorted(source.run()), std::move(functions).sorted(source.run()),
          std::move(pairs).sorted()};
}

std::vector<CallSiteTotal> totals_by_call_site(const RowSource& source, const Filter& filter) {
  const Run& run = source.run();
  if (run.stacks.empty()) return {};  // there are no places
  std::map<std::pair<std::int32_t, TextId>, CallSiteTotal> sums;
  const auto add = [&](const Calls& calls) {
    if (!calls.call_site) return;
    CallSiteTotal& sum = sums[{*calls.call_site, calls.function}];
    sum.call_site = *calls.call_site;
    sum.function = calls.function;
    sum.calls += calls.calls;
    sum.bytes += calls.bytes;
    sum.processes.insert(calls.process);
    sum.time_ns += calls.ns;
  };
  for_each_calls(source, filter, add);
  for_each_operations(source, filter, add);
  if (filter.takes_all()) for_each_library_call(source, add);
  std::vector<CallSiteTotal> rows;
  for (const auto& [key, sum] : sums) rows.push_back(sum);
  const auto rank = [&](const CallSiteTotal& row) {
    return std::make_tuple(~row.time_ns, ~row.calls, run.texts[row.function], row.call_site);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return rows;
}

}  // namespace uctrace
