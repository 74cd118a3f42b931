#include "log-merger/hang/comm_members.hpp"

#include <algorithm>
#include <cstdlib>

namespace uctrace::merge {

namespace {

RankGroupRef nobody_known() {
  auto group = std::make_shared<RankGroup>();
  group->complete = false;
  return group;
}

}  // namespace

bool RankGroup::contains(ProcessIndex process) const {
  return std::binary_search(processes.begin(), processes.end(), process);
}

// Members are searched among the processes, not rank by rank: a log may claim any count.
void CommMembers::add_run(RankGroup& group, Index world, const log::RankRun& run) const {
  if (world == kNone || run.count == 0 || (run.stride == 0 && run.count > 1)) {
    group.complete = false;
    return;
  }
  const std::int64_t stride = run.stride == 0 ? 1 : run.stride, steps = run.count - std::int64_t{1};
  const auto rank_at = [&](std::int64_t i) {
    return static_cast<std::int32_t>(run.first + stride * i);
  };
  const std::int32_t low = std::min(run.first, rank_at(steps)),
                     high = std::max(run.first, rank_at(steps));
  std::uint64_t there = 0;
  ranks_.each_in(world, low, high, [&](std::int32_t rank, ProcessIndex process) {
    if ((rank - low) % std::abs(stride) != 0) return;
    group.processes.push_back(process);
    ++there;
  });
  std::uint64_t missing = run.count - there;
  group.missing += missing;
  for (std::int64_t i = 0; missing > 0 && group.without_log.size() < RankGroup::kNamed; ++i) {
    if (ranks_.at(world, rank_at(i)) != kNone) continue;
    group.without_log.push_back(rank_at(i));
    --missing;
  }
}

void CommMembers::add_side(RankGroup& group, const CommSide& side) const {
  std::uint64_t known = 0;
  for (const log::RankRun& run : side.members) {
    add_run(group, side.world, run);
    known += run.count;
  }
  group.complete = group.complete && known == side.size;
}

InstanceIndex CommMembers::instance(ProcessIndex process, CommIndex comm) const {
  return comm == kNone ? InstanceIndex() : job_.logs[process].comms[comm].instance;
}

RankGroupRef CommMembers::addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const {
  const auto who = ranks_.addressed(process, comm, rank);
  if (!who || who->world == kNone) return nobody_known();
  auto group = std::make_shared<RankGroup>();
  if (who->process == kNone) {
    group->without_log.push_back(who->rank);
    group->missing = 1;
  } else {
    group->processes.push_back(who->process);
  }
  return group;
}

RankGroupRef CommMembers::sources(ProcessIndex process, CommIndex comm) {
  const InstanceIndex of = instance(process, comm);
  if (of == kNone) return nobody_known();
  const CommInstance& made = job_.comms[of];
  const int side = made.inter ? 1 - job_.logs[process].comms[comm].side : 0;
  RankGroupRef& known = sides_[{of, side}];
  if (known != nullptr) return known;
  auto group = std::make_shared<RankGroup>();
  add_side(*group, made.sides[side]);
  std::sort(group->processes.begin(), group->processes.end());
  return known = std::move(group);
}

RankGroupRef CommMembers::all(InstanceIndex of) {
  if (of == kNone) return nobody_known();
  RankGroupRef& known = all_[of];
  if (known != nullptr) return known;
  auto group = std::make_shared<RankGroup>();
  const CommInstance& made = job_.comms[of];
  add_side(*group, made.sides[0]);
  if (made.inter) add_side(*group, made.sides[1]);
  std::sort(group->processes.begin(), group->processes.end());
  return known = std::move(group);
}

RankGroupRef CommMembers::world(Index world) const {
  std::int32_t size = 0;
  for (const ProcessLog& log : job_.logs) {
    if (log.world == world) size = std::max(size, log.file.page().world_size);
  }
  if (size == 0) return nobody_known();
  auto group = std::make_shared<RankGroup>();
  add_run(*group, world, {0, 1, static_cast<std::uint32_t>(size), 0});
  std::sort(group->processes.begin(), group->processes.end());
  return group;
}

}  // namespace uctrace::merge
