#include "log-merger/waits/waits.hpp"

#include <algorithm>
#include <utility>

#include "log-merger/waits/collectives.hpp"
#include "log-merger/waits/delays.hpp"
#include "log-merger/waits/meetings.hpp"
#include "log-merger/waits/one_sided.hpp"
#include "log-merger/waits/partitioned.hpp"
#include "log-merger/waits/point_to_point.hpp"
#include "log-merger/waits/rank_times.hpp"
#include "log-merger/waits/replay.hpp"
#include "log-merger/waits/wait_identities.hpp"

namespace uctrace::merge {

namespace {

struct OfMessages {
  std::vector<Wait> waits;
  std::vector<ReceivedMessage> received;
  std::vector<Dependency> dependencies;
};

OfMessages waits_of_messages(const Job& job, ProcessIndex process, const Collectives& collectives,
                             const PartitionedMessages& partitioned) {
  RolesOfCalls roles(job);
  PointToPoint messages(job, process, roles, collectives, partitioned);
  for (const auto& lane : job.logs[process].calls_of_lane) {
    for (const CallIndex index : lane) {
      const CallRole role = roles(job.calls[index]).role;
      if (role == CallRole::message || role == CallRole::completes) messages.take(index);
    }
  }
  return {messages.finish(), messages.take_received(), messages.take_dependencies()};
}

}  // namespace

void find_waits(Job& job) {
  RolesOfCalls roles(job);
  const Collectives collectives(job, roles);
  const PartitionedMessages partitioned(job);
  std::vector<std::vector<Wait>> parts(job.logs.size() + 1);
  std::vector<std::vector<ReceivedMessage>> received(job.logs.size());
  std::vector<std::vector<Dependency>> dependencies(job.logs.size());
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    OfMessages found = waits_of_messages(job, ProcessIndex(process), collectives, partitioned);
    parts[process] = std::move(found.waits);
    received[process] = std::move(found.received);
    dependencies[process] = std::move(found.dependencies);
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
  for (const Wait& wait : job.run.waits) {
    if (wait.message >= 0) {
      job.run.messages[static_cast<std::size_t>(wait.message)].wait_ns += wait.ns;
    }
  }
  find_delays(job, Meetings(job, collectives, received));
  std::vector<Dependency> all;
  for (const auto& of_process : dependencies) {
    all.insert(all.end(), of_process.begin(), of_process.end());
  }
  find_rank_times(job, roles, ideal_times(job, roles, collectives, std::move(all)));
  for (Identity& identity : wait_identities(job.run)) {
    job.run.identities.push_back(std::move(identity));
  }
}

}  // namespace uctrace::merge
