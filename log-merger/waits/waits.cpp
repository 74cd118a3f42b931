#include "log-merger/waits/waits.hpp"

#include <algorithm>
#include <iterator>

#include "log-merger/waits/collectives.hpp"
#include "log-merger/waits/one_sided.hpp"
#include "log-merger/waits/point_to_point.hpp"
#include "log-merger/waits/rank_times.hpp"

namespace uctrace::merge {

namespace {

std::vector<Wait> waits_of_messages(const Job& job, ProcessIndex process,
                                    const Collectives& collectives) {
  RolesOfCalls roles(job);
  PointToPoint messages(job, process, roles, collectives);
  for (const auto& lane : job.logs[process].calls_of_lane) {
    for (const CallIndex index : lane) {
      const CallRole role = roles(job.calls[index]).role;
      if (role == CallRole::message || role == CallRole::completes) messages.take(index);
    }
  }
  return messages.finish();
}

}  // namespace

void find_waits(Job& job) {
  RolesOfCalls roles(job);
  const Collectives collectives(job, roles);
  std::vector<std::vector<Wait>> parts(job.logs.size() + 1);
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    parts[process] = waits_of_messages(job, ProcessIndex(process), collectives);
  });
  const WaitMaker maker(job);
  collectives.find_waits(maker, parts.back());
  OneSided(job, roles).find_waits(maker, parts.back());
  for (const std::vector<Wait>& part : parts) {
    job.run.waits.insert(job.run.waits.end(), part.begin(), part.end());
  }
  std::stable_sort(job.run.waits.begin(), job.run.waits.end(), [](const Wait& a, const Wait& b) {
    return a.call != b.call ? a.call < b.call : a.t_start_ns < b.t_start_ns;
  });
  find_rank_times(job, roles);
}

}  // namespace uctrace::merge
