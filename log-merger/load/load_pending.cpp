#include "log-merger/load/load_pending.hpp"

#include <algorithm>

#include "log-merger/job/gaps.hpp"

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
    const bool vanished = end != UINT64_MAX && !has_gap_between(log.recorded, since, end);
    (vanished ? totals_.vanished : totals_.queued) += static_cast<std::uint64_t>(balance);
  }
  log.pending = totals_;
}

}  // namespace uctrace::merge
