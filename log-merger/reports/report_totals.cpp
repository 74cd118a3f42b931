// What a report sums up: by transport and operation, by function, by pair, by call site.
#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/reports/report.hpp"

namespace uctrace {

std::vector<Contender> contenders(const Run& run, const Filter& filter, WithoutMessage rest) {
  std::map<std::pair<TextId, TextId>, Contender> sums;
  const auto sum_of = [&](TextId transport, TextId op) -> Contender& {
    Contender& sum = sums[{transport, op}];
    sum.transport = transport;
    sum.op = op;
    return sum;
  };
  for (const Message& message : run.messages) {
    if (!filter.accepts(message)) continue;
    for (const Hop& hop : path_of(run, message)) {
      if (!filter.accepts(hop)) continue;
      Contender& sum = sum_of(hop.transport, hop.op);
      sum.transfers += hop.count;
      sum.bytes += hop.bytes;
      sum.wire_bytes += hop.wire_bytes;
    }
  }
  if (rest == WithoutMessage::counted) {
    for (const Transfer& transfer : run.transfers) {
      if (transfer.message >= 0 || !filter.accepts_without_message(transfer)) continue;
      Contender& sum = sum_of(transfer.transport, transfer.op);
      ++sum.transfers;
      sum.bytes += transfer.payload;
      sum.wire_bytes += transfer.bytes;
    }
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

std::vector<FunctionTotal> totals_by_function(const Run& run, const Filter& filter) {
  std::map<TextId, FunctionTotal> sums;
  for (const Message& message : run.messages) {
    if (!filter.selects(message)) continue;
    FunctionTotal& sum = sums[message.mpi];
    ++sum.messages;
    sum.bytes += message.bytes;
  }
  for (const MpiCallRow& call : run.mpi_calls) {
    if (!filter.accepts(call).value_or(false)) continue;
    FunctionTotal& sum = sums[call.function];
    sum.calls = sum.calls.value_or(0) + 1;
    sum.asked_bytes = sum.asked_bytes.value_or(0) + call.bytes + call.recv_bytes;
    if (call.comm != kNoText) sum.comms.insert(call.comm);
    if (call.t_start_ns < 0 || call.t_end_ns < call.t_start_ns) continue;
    sum.time_ns =
        sum.time_ns.value_or(0) + static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns);
  }
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

std::vector<PairTotal> totals_by_pair(const Run& run, const Filter& filter) {
  std::map<std::pair<Party, Party>, PairTotal> sums;
  for (const Message& message : run.messages) {
    if (!filter.selects(message)) continue;
    const Party source = source_of(message), destination = destination_of(message);
    PairTotal& sum = sums[{source, destination}];
    sum.source = source;
    sum.destination = destination;
    ++sum.messages;
    sum.bytes += message.bytes;
  }
  std::vector<PairTotal> rows;
  for (const auto& [key, sum] : sums) rows.push_back(sum);
  const auto rank = [](const PairTotal& row) {
    return std::make_tuple(~row.bytes, ~row.messages, row.source, row.destination);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return rows;
}

std::vector<CallSiteTotal> totals_by_call_site(const Run& run, const Filter& filter) {
  std::map<std::pair<std::int32_t, TextId>, CallSiteTotal> sums;
  const auto add = [&](const auto& call, std::uint64_t bytes) {
    const std::int32_t site = call_site_at(run, call.stack);
    CallSiteTotal& sum = sums[{site, call.function}];
    sum.call_site = site;
    sum.function = call.function;
    ++sum.calls;
    sum.bytes += bytes;
    sum.processes.insert(call.process);
    if (call.t_start_ns < 0 || call.t_end_ns < call.t_start_ns) return;
    sum.time_ns += static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns);
  };
  for (const MpiCallRow& call : run.mpi_calls) {
    if (call.stack < 0 || !filter.accepts(call).value_or(false)) continue;
    add(call, call.bytes + call.recv_bytes);
  }
  for (const UcpOperationRow& operation : run.ucp_operations) {
    if (operation.stack < 0 || operation.progressed_in != kNoText) continue;
    const bool selected = operation.message < 0 ||
                          filter.selects(run.messages[static_cast<std::size_t>(operation.message)]);
    if (selected) add(operation, operation.bytes);
  }
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
