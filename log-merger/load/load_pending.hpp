// The pending queues of a process: requests that entered, left, and are still there. A part of
// load_processes().
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class PendingQueues {
 public:
  void take(const log::UctPendingView& view);
  // When all are taken: writes their fates to ProcessLog::pending.
  void finish(ProcessLog& log);

 private:
  PendingTotals totals_;
  // By endpoint and request: how often it was added without leaving, and when it was last added.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int64_t, std::uint64_t>>
      in_queue_;
};

}  // namespace uctrace::merge
