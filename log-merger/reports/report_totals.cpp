// What a report sums up: by transport and operation, by function, by pair, by call site.
#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {

std::vector<Contender> contenders(const RowSource& source, const Filter& filter,
                                  WithoutMessage rest) {
  const Run& run = source.run();
  std::map<std::pair<TextId, TextId>, Contender> sums;
  const auto sum_of = [&](TextId transport, TextId op) -> Contender& {
    Contender& sum = sums[{transport, op}];
    sum.transport = transport;
    sum.op = op;
    return sum;
  };
  const Wanted<Hop> of_path{&Hop::transport, &Hop::op, &Hop::count, &Hop::payload_bytes,
                            &Hop::wire_bytes};
  for_each_traffic(source, filter, {}, of_path, [&](const Traffic& traffic) {
    for (const Hop& hop : traffic.path) {
      if (!filter.accepts(hop)) continue;
      Contender& sum = sum_of(hop.transport, hop.op);
      sum.transfers += hop.count;
      sum.bytes += hop.payload_bytes;
      sum.wire_bytes += hop.wire_bytes;
    }
  });
  if (rest == WithoutMessage::counted) {
    for_each_without_message(source, filter, [&](const TransfersWithoutMessage& others) {
      Contender& sum = sum_of(others.like.transport, others.like.op);
      sum.transfers += others.transfers;
      sum.bytes += others.payload_bytes;
      sum.wire_bytes += others.wire_bytes;
    });
  }
  std::vector<Contender> rows;
  for (const auto& [key, sum] : sums) rows.push_back(sum);
  const auto rank = [&](const Contender& row) {
    return std::make_tuple(~row.bytes, ~row.transfers, run.texts[row.transport], run.texts[row.op]);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return rows;
}

std::vector<FunctionTotal> totals_by_function(const RowSource& source, const Filter& filter) {
  const Run& run = source.run();
  std::map<TextId, FunctionTotal> sums;
  for_each_traffic(source, filter, {&Message::mpi, &Message::bytes}, {},
                   [&](const Traffic& traffic) {
                     if (!filter.selects(traffic.like, traffic.path)) return;
                     FunctionTotal& sum = sums[traffic.like.mpi];
                     sum.messages += traffic.messages;
                     sum.bytes += traffic.bytes;
                   });
  for_each_calls(source, filter, [&](const Calls& calls) {
    FunctionTotal& sum = sums[calls.function];
    sum.calls = sum.calls.value_or(0) + calls.calls;
    sum.asked_bytes = sum.asked_bytes.value_or(0) + calls.bytes;
    if (calls.comm != kNoText) sum.comms.insert(calls.comm);
    if (calls.is_timed) sum.time_ns = sum.time_ns.value_or(0) + calls.ns;
  });
  std::vector<FunctionTotal> rows;
  for (auto& [function, sum] : sums) {
    sum.function = function;
    rows.push_back(sum);
  }
  const auto rank = [&](const FunctionTotal& row) {
    return std::make_tuple(~row.bytes, ~row.messages, ~row.time_ns.value_or(0),
                           run.texts[row.function]);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return rows;
}

std::vector<PairTotal> totals_by_pair(const RowSource& source, const Filter& filter) {
  using M = Message;
  std::map<std::pair<Party, Party>, PairTotal> sums;
  const Wanted<M> wanted{&M::src, &M::src_process, &M::dst, &M::dst_process, &M::bytes};
  for_each_traffic(source, filter, wanted, {}, [&](const Traffic& traffic) {
    if (!filter.selects(traffic.like, traffic.path)) return;
    const Party from = source_of(traffic.like), to = destination_of(traffic.like);
    PairTotal& sum = sums[{from, to}];
    sum.source = from;
    sum.destination = to;
    sum.messages += traffic.messages;
    sum.bytes += traffic.bytes;
  });
  std::vector<PairTotal> rows;
  for (const auto& [key, sum] : sums) rows.push_back(sum);
  const auto rank = [](const PairTotal& row) {
    return std::make_tuple(~row.bytes, ~row.messages, row.source, row.destination);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return rows;
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
