#include "log-merger/audit/totals.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "log-merger/audit/delivered.hpp"
#include "log-merger/model/faults.hpp"
#include "log-merger/rails/rails.hpp"

namespace uctrace::merge {

namespace {

constexpr std::uint64_t SendTotals::*kParts[] = {&SendTotals::matched,   &SendTotals::ambiguous,
                                                 &SendTotals::unmatched, &SendTotals::failed,
                                                 &SendTotals::inferred,  &SendTotals::outside};
static_assert(sizeof(SendTotals) == std::size(kParts) * sizeof(std::uint64_t));

}  // namespace

SendTotals& SendTotals::operator+=(const SendTotals& more) {
  for (const auto part : kParts) this->*part += more.*part;
  return *this;
}

SendTotals& SendTotals::operator-=(const SendTotals& less) {
  for (const auto part : kParts) this->*part -= less.*part;
  return *this;
}

namespace {

constexpr const char* kReasons[] = {
    "wireup",     "keepalive", "internal_flush", "endpoint_discard", "remote_request",
    "direct_uct", "tool"};

void count_link(LinkTotals& totals, Link link) {
  switch (link) {
    case Link::exact:
      ++totals.exact;
      break;
    case Link::inferred:
      ++totals.inferred;
      break;
    case Link::ambiguous:
      ++totals.ambiguous;
      break;
    default:
      ++totals.none;
  }
}

// With protocols v1 the names are known, but posts have none.
void count_protocol(const Job& job, const UctOp& op, Found& found) {
  const bool name_is_known = job.logs[op.process].protocols[1] != kNoText;
  found.protocols_told += op.protocol != 0;
  found.protocols_untold +=
      op.protocol == 0 && name_is_known && op.serves != kNone && op.op == log::UctOp::am_bcopy;
}

void count_transfers(const Job& job, Found& found) {
  const char* last_reason = nullptr;
  std::uint64_t* of_reason = nullptr;
  for (const UctOp& op : job.uct) {
    count_protocol(job, op, found);
    if (op.status < 0) {
      ++found.refused_uct_operations;
      continue;
    }
    ++found.uct_operations;
    found.outstanding += op.outstanding();
    found.posted_receives += op.posted_receive();
    if (op.link == Link::reason) {
      if (op.reason != last_reason) of_reason = &found.reasons[last_reason = op.reason];
      ++*of_reason;
    } else if (op.serves == kNone) {
      ++found.unattributed;
      found.unattributed_with_payload += role_of(op) == Role::data && !op.failed();
    } else {
      ++found.attributed;
      count_link(found.uct_ucp, op.link);
      if (role_of(op) == Role::data) {
        count_link(found.with_payload, op.link);
      }
      const UcpOp& served = job.ucp[op.serves];
      count_link(found.uct_mpi, served.asked_by == kNone ? Link::unattributed : served.mpi_link);
    }
  }
}

void count_hooks(const Job& job, Found& found) {
  for (const ProcessLog& log : job.logs) {
    for (const Interface& interface : log.interfaces) {
      found.slots_offered += static_cast<std::uint64_t>(std::popcount(interface.offered));
      found.slots_hooked +=
          static_cast<std::uint64_t>(std::popcount(interface.offered & interface.hooked));
    }
    for (const auto& [fault, detail] : log.faults) {
      found.left_out +=
          static_cast<log::FaultCode>(fault.head.a) == log::FaultCode::left_out && fault.value != 0;
    }
  }
}

void count_pending(const Job& job, PendingTotals& sum) {
  for (const ProcessLog& log : job.logs) {
    sum.added += log.pending.added;
    sum.dispatched += log.pending.dispatched;
    sum.purged += log.pending.purged;
    sum.lost_sight += log.pending.lost_sight;
    sum.queued += log.pending.queued;
    sum.vanished += log.pending.vanished;
    sum.outside += log.pending.outside;
  }
}

// The matcher's result for a message, the same for both of its ends.
template <typename Totals>
void count_match(Match match, Totals& totals) {
  if (match == Match::unmatched) {
    ++totals.unmatched;
  } else if (match == Match::outside_window) {
    ++totals.outside;
  } else {
    ++(match == Match::ambiguous ? totals.ambiguous : totals.matched);
  }
}

void count_send(const UcpOp& op, SendTotals& totals) {
  if (!op.accepted()) {
    return;
  }
  if (op.failed()) {
    ++totals.failed;
  } else {
    count_match(op.match, totals);
    totals.inferred += op.match == Match::inferred;
  }
}

void count_receive(const UcpOp& op, ReceiveTotals& totals) {
  if (!op.accepted()) {
    return;
  }
  if (op.took_unknown() || (op.is_stream() && !op.ended)) {
    ++totals.outstanding;
  } else if (!op.received()) {
    ++totals.failed;
  } else {
    count_match(op.match, totals);
  }
}

void count_stream(const UcpOp& op, StreamTotals& totals) {
  if (!op.accepted()) {
    return;
  }
  totals.received_bytes += op.stream_known ? op.received_bytes : 0;
  totals.taken_bytes += op.taken_bytes;
  if (op.is_send() && !op.failed()) {
    totals.unread_bytes += op.bytes - op.taken_bytes;
  }
}

void count_end(const UcpOp& op, EndTotals& totals) {
  if (op.accepted()) {
    ++(op.implicit() ? totals.implicit : op.ended ? totals.ended : totals.outstanding);
  }
}

// Whether all operations that moved it were recorded.
bool recorded_whole(const Job& job, const Message& message) {
  for (const std::int32_t process : {message.src_process, message.dst_process}) {
    if (process >= 0 &&
        !job.logs[ProcessIndex(process)].whole(message.t_start_ns, message.t_end_ns)) {
      return false;
    }
  }
  return true;
}

struct PayloadTotals {
  std::uint64_t delivered = 0, covered = 0, messages_not_covered = 0;
};

PayloadTotals payload_of(const Job& job, const Found& found, RowSpan rows) {
  const bool partly_recorded = job.partly_recorded();
  PayloadTotals totals;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const UcpOp& send = job.ucp[i];
    if (!send.starts_message() || send.message == kNone) {
      continue;
    }
    const Message& message = job.run.messages[send.message.place()];
    if (!delivered(job, message, send) || !recorded_whole(job, message)) {
      continue;
    }
    const bool by_cpu = is_rkey_ptr(job.run.texts[message.protocol]);
    // That a CPU copied it is inferred from the absence of transfers with payload: none may be
    // hidden.
    const bool copied = by_cpu && found.unattributed_with_payload == 0;
    if (by_cpu && !copied && partly_recorded) {
      continue;  // if recording was off, the message of a transfer may be missing
    }
    const std::uint64_t covered =
        copied ? message.bytes : covered_bytes(job, job.operations_of.of(send.message));
    totals.delivered += message.bytes;
    totals.covered += covered;
    totals.messages_not_covered += covered != message.bytes;
  }
  return totals;
}

// Processes in parallel; after the transfers were counted.
void count_payload(const Job& job, Found& found) {
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  std::vector<PayloadTotals> totals(spans.size());
  job.workers.each(spans.size(),
                   [&](std::size_t i) { totals[i] = payload_of(job, found, spans[i]); });
  for (const PayloadTotals& of_process : totals) {
    found.delivered_bytes += of_process.delivered;
    found.covered_bytes += of_process.covered;
    found.messages_not_covered += of_process.messages_not_covered;
  }
}

SendTotals& sends_of(log::UcpFamily family, Found& found) {
  return family == log::UcpFamily::am_send       ? found.am_sends
         : family == log::UcpFamily::stream_send ? found.stream_sends
                                                 : found.sends;
}

ReceiveTotals& receives_of(log::UcpFamily family, Found& found) {
  return family == log::UcpFamily::am_receive       ? found.am_receives
         : family == log::UcpFamily::stream_receive ? found.stream_receives
                                                    : found.receives;
}

void count_operations(const Job& job, Found& found) {
  for (const UcpOp& op : job.ucp) {
    found.ucp_ended += op.completed;
    count_end(op, found.ends[op.family()]);
    if (op.is_stream()) {
      count_stream(op, found.streams);
    }
    if (op.tool && op.is_send()) {
      count_send(op, found.tool_sends);
    } else if (op.tool && op.is_receive()) {
      count_receive(op, found.tool_receives);
    }
    if (op.is_send()) {
      count_send(op, sends_of(op.family(), found));
    } else if (op.is_one_sided()) {
      count_send(op, found.one_sided);
    } else if (op.is_receive()) {
      count_receive(op, receives_of(op.family(), found));
    }
  }
}

template <typename Sum>
Sum sum_of_logs(const Job& job, auto&& of) {
  Sum sum{};
  for (const ProcessLog& log : job.logs) sum += of(log);
  return sum;
}

}  // namespace

Found count_found(const Job& job) {
  Found found;
  for (const char* reason : kReasons) {
    found.reasons[reason] = 0;
  }
  for (const ProcessLog& log : job.logs) {
    found.events += log.file.event_count();
  }
  found.ucp_operations = job.ucp.size();
  found.mpi_calls = static_cast<std::uint64_t>(std::count_if(
      job.calls.begin(), job.calls.end(), [](const MpiCall& call) { return !call.open; }));
  found.arrivals = job.arrivals.size();
  count_hooks(job, found);
  count_pending(job, found.pending);
  for (const ProcessLog& log : job.logs) {
    found.uct_ends_of_outside += log.uct_ends_of_outside;
    found.ucp_ends_of_outside += log.ucp_ends_of_outside;
    found.memory_words += log.devices.memory_words;
    const MemoryCalls& memory = log.memory_calls;
    found.library_calls += log.library_calls.calls.size();
    found.memory_calls += memory.calls.size();
    found.registered_bytes += memory.registered_bytes;
    found.deregistrations += memory.ends;
    found.ended_registrations += memory.matched_ends;
  }
  found.used_events = found.uct_ends_of_outside + found.ucp_ends_of_outside +
                      found.pending.records() + job.uct.size() + job.uct_completions +
                      found.arrivals + found.ucp_operations + job.ucp_completions +
                      found.mpi_calls + job.mpi_request_records + found.memory_calls +
                      found.library_calls;
  found.network_cards = find_rails(job);
  // They fill different parts of the result.
  job.workers.each(4, [&](std::size_t part) {
    if (part == 0) count_transfers(job, found);
    if (part == 1) count_operations(job, found);
    if (part == 2) found.ports = check_ports(job);
    if (part == 3) found.counted_transports = compare_counted_transports(job);
  });
  count_payload(job, found);
  return found;
}

log::LaneCounters count_counted(const Job& job) {
  return sum_of_logs<log::LaneCounters>(job, [](const ProcessLog& log) { return log.totals; });
}

log::LaneCounters count_recorded(const Job& job) {
  return sum_of_logs<log::LaneCounters>(job,
                                        [](const ProcessLog& log) { return log.recorded.counted; });
}

std::uint64_t total_dropped(const Job& job) {
  return sum_of_logs<std::uint64_t>(
      job, [](const ProcessLog& log) { return log.file.dropped_records(); });
}

DropCounts total_dropped_by_cause(const Job& job) {
  DropCounts sums{};
  for (const ProcessLog& log : job.logs) {
    const DropCounts counts = log.file.dropped_by_cause();
    for (std::size_t cause = 0; cause < sums.size(); ++cause) sums[cause] += counts[cause];
  }
  return sums;
}

std::uint64_t total_overwritten(const Job& job) {
  return sum_of_logs<std::uint64_t>(job,
                                    [](const ProcessLog& log) { return log.recorded.overwritten; });
}

std::uint64_t total_outside(const Job& job) {
  return sum_of_logs<std::uint64_t>(job,
                                    [](const ProcessLog& log) { return log.recorded.outside; });
}

bool job_complete(const Job& job) {
  const log::LaneCounters counted = count_counted(job);
  if (counted.uct_untracked + counted.ucp_untracked != 0) {
    return false;  // their ends are not known
  }
  if (job.findings.unreadable() != 0) {
    return false;  // and may be any process's
  }
  std::set<std::int32_t> ranks;
  std::int32_t size = 0;
  for (const ProcessLog& log : job.logs) {
    if (!log.file.complete()) {
      return false;
    }
    const bool fresh = ranks.insert(log.rank()).second;
    if (!fresh && log.rank() >= 0 && log.file.job().empty()) {
      return false;  // several jobs without a name: load_job() noted it
    }
    size = std::max(size, log.file.page().world_size);
  }
  ranks.erase(-1);
  // Also for each spawned world, which has its own ranks.
  return static_cast<std::int32_t>(ranks.size()) >= size && job.findings.missing_ranks == 0;
}

bool was_bypassed(const ProcessLog& log, log::FaultCode bypassed) {
  return std::any_of(log.faults.begin(), log.faults.end(), [&](const auto& fault) {
    return static_cast<log::FaultCode>(fault.first.head.a) == bypassed;
  });
}

bool misses_libraries(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const ProcessLog& log) {
    return std::any_of(log.faults.begin(), log.faults.end(), [](const auto& fault) {
      return misses_library(static_cast<log::FaultCode>(fault.first.head.a));
    });
  });
}

}  // namespace uctrace::merge
