#include "log-merger/hang/comm_members.hpp"

#include <algorithm>

#include "log-merger/mpi/communicators.hpp"

namespace uctrace::merge {

CommMembers::CommMembers(const Job& job) : job_(job) {
  for (const ProcessIndex process : job.logs.indexes()) {
    const ProcessLog& log = job.logs[process];
    if (log.world != kNone) process_at_[{log.world, log.rank()}] = process;
  }
}

void CommMembers::add(RankGroup& group, Index world, std::int32_t rank) const {
  const auto found = process_at_.find({world, rank});
  if (rank < 0 || world == kNone) {
    group.complete = false;
  } else if (found == process_at_.end()) {
    group.without_log.push_back(rank);
  } else {
    group.processes.push_back(found->second);
  }
}

void CommMembers::add_side(RankGroup& group, const CommSide& side) const {
  std::uint32_t known = 0;
  for (const log::RankRun& run : side.members) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++known) {
      add(group, side.world, static_cast<std::int32_t>(run.first + std::int64_t{run.stride} * i));
    }
  }
  group.complete = group.complete && known == side.size;
}

InstanceIndex CommMembers::instance(ProcessIndex process, CommIndex comm) const {
  return comm == kNone ? InstanceIndex() : job_.logs[process].comms[comm].instance;
}

RankGroupRef CommMembers::addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const {
  auto group = std::make_shared<RankGroup>();
  const InstanceIndex of = instance(process, comm);
  const auto world_rank = addressed_rank(job_, process, comm, rank);
  if (of == kNone || !world_rank) {
    group->complete = false;
    return group;
  }
  const CommInstance& made = job_.comms[of];
  const Comm& own = job_.logs[process].comms[comm];
  add(*group, made.sides[made.inter ? 1 - own.side : 0].world, *world_rank);
  return group;
}

RankGroupRef CommMembers::others(ProcessIndex process, CommIndex comm) const {
  auto group = std::make_shared<RankGroup>();
  const InstanceIndex of = instance(process, comm);
  if (of == kNone) {
    group->complete = false;
    return group;
  }
  const CommInstance& made = job_.comms[of];
  add_side(*group, made.sides[made.inter ? 1 - job_.logs[process].comms[comm].side : 0]);
  std::erase(group->processes, process);
  std::sort(group->processes.begin(), group->processes.end());
  return group;
}

RankGroupRef CommMembers::all(InstanceIndex of) const {
  auto group = std::make_shared<RankGroup>();
  if (of == kNone) {
    group->complete = false;
    return group;
  }
  const CommInstance& made = job_.comms[of];
  add_side(*group, made.sides[0]);
  if (made.inter) add_side(*group, made.sides[1]);
  std::sort(group->processes.begin(), group->processes.end());
  return group;
}

RankGroupRef CommMembers::world(Index world) const {
  auto group = std::make_shared<RankGroup>();
  std::int32_t size = 0;
  for (const ProcessIndex process : job_.logs.indexes()) {
    if (job_.logs[process].world == world) size = job_.logs[process].file.page().world_size;
  }
  for (std::int32_t rank = 0; rank < size; ++rank) add(*group, world, rank);
  std::sort(group->processes.begin(), group->processes.end());
  return group;
}

}  // namespace uctrace::merge
