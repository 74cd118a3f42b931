// The endpoints of UCP of a process, to be found by when they were made. Private to
// log-merger/connections/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class UcpEndpoints {
 public:
  UcpEndpoints() = default;
  explicit UcpEndpoints(const ProcessLog& log) {
    for (const UcpEndpoint& row : log.ucp_endpoints) of_worker_[row.worker].push_back(&row);
    for (auto& [worker, rows] : of_worker_) {
      std::sort(rows.begin(), rows.end(),
                [](const UcpEndpoint* a, const UcpEndpoint* b) { return a->tick < b->tick; });
    }
  }

  // The one of the worker that was being made at `tick`; nullptr: none was.
  const UcpEndpoint* made_at(std::uint64_t worker, std::uint64_t tick) const {
    const auto rows = of_worker_.find(worker);
    if (rows == of_worker_.end()) return nullptr;
    const auto at = std::partition_point(rows->second.begin(), rows->second.end(),
                                         [&](const UcpEndpoint* row) { return row->tick < tick; });
    return at != rows->second.end() && (*at)->begin_tick <= tick ? *at : nullptr;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<const UcpEndpoint*>> of_worker_;
};

// Of each process of the job, made by all threads.
inline std::vector<UcpEndpoints> ucp_endpoints_of(const Job& job) {
  std::vector<UcpEndpoints> of_process(job.logs.size());
  job.workers.each(of_process.size(), [&](std::size_t i) {
    of_process[i] = UcpEndpoints(job.logs[ProcessIndex(static_cast<std::int32_t>(i))]);
  });
  return of_process;
}

}  // namespace uctrace::merge
