#include "log-merger/waits/waits.hpp"

#include <algorithm>
#include <utility>

#include "log-merger/waits/begun_collectives.hpp"
#include "log-merger/waits/collectives.hpp"
#include "log-merger/waits/critical_path.hpp"
#include "log-merger/waits/delays.hpp"
#include "log-merger/waits/dependencies.hpp"
#include "log-merger/waits/ideal_times.hpp"
#include "log-merger/waits/meetings.hpp"
#include "log-merger/waits/one_sided.hpp"
#include "log-merger/waits/partitioned.hpp"
#include "log-merger/waits/point_to_point.hpp"
#include "log-merger/waits/rank_times.hpp"
#include "log-merger/waits/wait_identities.hpp"

namespace uctrace::merge {

namespace {

// What was found of one process.
struct OfProcess {
  std::vector<Wait> waits;
  std::vector<ReceivedMessage> received;
  DependenciesOfProcess dependencies;
  std::vector<BegunCollective> begun;
};

OfProcess waits_of(const Job& job, ProcessIndex process, const Collectives& collectives,
                   const PartitionedMessages& partitioned) {
  RolesOfCalls roles(job);
  PointToPoint calls(job, process, roles, collectives, partitioned);
  for (const auto& lane : job.logs[process].calls_of_lane) {
    for (const CallIndex index : lane) {
      const MpiCall& call = job.calls[index];
      const RoleOfCall role = roles(call);
      if (role.role == CallRole::message || role.role == CallRole::completes) {
        calls.take(index);
        continue;
      }
      calls.take_test(index);
      if (role.role == CallRole::probe) {
        calls.take_probe(index);
      } else if (!role.begins && collectives.is_of_no_operation(call, role.role)) {
        calls.take_without_rule(index, role.role);
      }
    }
  }
  OfProcess found{calls.finish(), calls.take_received(), calls.take_dependencies(), {}};
  found.begun = begun_collectives(job, process, roles, found.dependencies.completed);
  return found;
}

}  // namespace

void find_waits(Job& job) {
  RolesOfCalls roles(job);
  Collectives collectives(job, roles);
  const PartitionedMessages partitioned(job);
  std::vector<OfProcess> found(job.logs.size());
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    found[process] = waits_of(job, ProcessIndex(process), collectives, partitioned);
  });
  const WaitMaker maker(job);
  std::vector<Wait>& waits = job.run.waits;
  collectives.find_waits(maker, waits);
  std::vector<CallDependency> dependencies = OneSided(job, roles).find_waits(maker, waits);
  std::vector<std::vector<ReceivedMessage>> received;
  for (OfProcess& own : found) {
    waits.insert(waits.end(), own.waits.begin(), own.waits.end());
    const auto& messages = own.dependencies.messages;
    dependencies.insert(dependencies.end(), messages.begin(), messages.end());
    for (const BegunCollective& one : own.begun) {
      if (one.completed < 0) continue;
      collectives.completed_by(CallIndex(one.completed),
                               {CallIndex(one.begun), CallIndex(one.made)});
    }
    std::vector<BegunCollective>& begun = job.run.begun_collectives;
    begun.insert(begun.end(), own.begun.begin(), own.begun.end());
    received.push_back(std::move(own.received));
    own = {};
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return a.call != b.call ? a.call < b.call : a.t_start_ns < b.t_start_ns;
  });
  for (const Wait& wait : waits) {
    if (wait.message >= 0) {
      job.run.messages[static_cast<std::size_t>(wait.message)].wait_ns += wait.ns;
    }
  }
  find_dependencies(job, collectives, std::move(dependencies));
  find_rank_times(job, roles, ideal_times(job, roles));
  find_delays(job, Meetings(job, collectives, received));
  job.run.critical_path = critical_path(job.run);
  for (Identity& identity : wait_identities(job.run)) {
    job.run.identities.push_back(std::move(identity));
  }
}

}  // namespace uctrace::merge
