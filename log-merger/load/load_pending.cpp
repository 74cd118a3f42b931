#include "log-merger/load/load_pending.hpp"

#include <algorithm>

namespace uctrace::merge {

void PendingQueues::take(const log::UctPendingView& view) {
  auto& [balance, since] = in_queue_[{view.r.endpoint, view.r.request}];
  switch (view.event()) {
    case log::PendingEvent::added:
      ++totals_.added;
      ++balance;
      since = std::max(since, view.r.tick);
      return;
    case log::PendingEvent::dispatched:
      ++totals_.dispatched;
      break;
    case log::PendingEvent::purged:
      ++totals_.purged;
      break;
    default:
      ++totals_.lost_sight;
  }
  --balance;
}

namespace {

// Whether events between two ticks may be missing by the user's choice.
bool has_gap_between(const ProcessLog& log, std::uint64_t begin, std::uint64_t end) {
  const std::vector<Gap>& gaps = log.recorded.gaps;
  const auto first = std::partition_point(gaps.begin(), gaps.end(),
                                          [=](const Gap& gap) { return gap.end_tick <= begin; });
  return first != gaps.end() && first->begin_tick < end;
}

}  // namespace

// A queue ends with its endpoint: nothing will report requests still in it. They may have left it
// before, while nothing was recorded: then they are in it as far as the log tells.
void PendingQueues::finish(ProcessLog& log) {
  for (const auto& [key, entry] : in_queue_) {
    const auto& [balance, since] = entry;
    if (balance <= 0) {
      totals_.outside += static_cast<std::uint64_t>(-balance);
      continue;
    }
    const EndpointIndex at = row_at(log.endpoints, key.first, since);
    const std::uint64_t end = at != kNone ? log.endpoints[at].destroyed_tick : UINT64_MAX;
    const bool vanished = end != UINT64_MAX && !has_gap_between(log, since, end);
    (vanished ? totals_.vanished : totals_.queued) += static_cast<std::uint64_t>(balance);
  }
  log.pending = totals_;
}

}  // namespace uctrace::merge
