// What calls of windows wait for, and the end of MPI.
#include <fmt/format.h>

#include <algorithm>

#include "log-merger/hang/waits.hpp"
#include "log-merger/waits/windows.hpp"

namespace uctrace::merge {

void WaitFinder::add_finalize(CallIndex index, Waiting& waiting) {
  const Index of_world = job_.logs[call(index).process].world;
  RankGroupRef& others = not_finalizing_[of_world];
  if (others == nullptr) others = not_in_finalize(of_world, function(index));
  if (others->empty()) return;
  OpenWait wait;
  wait.kind = "finalize";
  wait.text = fmt::format("{} to enter {}", ranks(*others, false), function(index));
  wait.of = others;
  wait.asked_by = index;
  waiting.waits.push_back(std::move(wait));
}

RankGroupRef WaitFinder::not_in_finalize(Index of_world, const std::string& finalize) const {
  auto others = std::make_shared<RankGroup>();
  const RankGroupRef world = members_.world(of_world);
  others->without_log = world->without_log;
  others->complete = world->complete;
  for (const ProcessIndex process : world->processes) {
    const auto& lanes = job_.logs[process].calls_of_lane;
    const bool entered = std::any_of(lanes.begin(), lanes.end(), [&](const auto& calls) {
      return !calls.empty() && function(calls.back()) == finalize;
    });
    if (!entered) others->processes.push_back(process);
  }
  return others;
}

// Who has locked a window of a target and has not given it back.
const std::vector<WaitFinder::Holder>& WaitFinder::holders(const MpiCall& waiting) {
  const InstanceIndex instance = members_.instance(waiting.process, waiting.comm);
  const auto window_of = [&](const MpiCall& call) {
    return call.window == kNone ? -1 : NumbersOfWindows(job_.logs[call.process]).of(call.window);
  };
  const std::int32_t window = window_of(waiting);
  const auto [known, fresh] = holders_.try_emplace({instance, window, waiting.peer});
  std::vector<Holder>& found = known->second;
  if (!fresh) return found;
  for (const ProcessIndex process : job_.logs.indexes()) {
    if (sitters_.gone[process]) continue;
    std::int64_t held = 0;
    bool alone = false;
    for (const auto& calls : job_.logs[process].calls_of_lane) {
      for (const CallIndex index : calls) {
        const MpiCall& one = call(index);
        if (!one.on_window || members_.instance(process, one.comm) != instance) continue;
        const std::string& name = function(index);
        const bool of_all = name == "MPI_Win_lock_all" || name == "MPI_Win_unlock_all";
        const bool locks = name == "MPI_Win_lock" || name == "MPI_Win_lock_all";
        const bool gives_back = name == "MPI_Win_unlock" || name == "MPI_Win_unlock_all";
        if ((!locks && !gives_back) || (!of_all && one.peer != waiting.peer) ||
            window_of(one) != window) {
          continue;
        }
        if (gives_back) --held;
        if (locks && !one.open) ++held, alone = one.locks_alone;
      }
    }
    if (held > 0) found.push_back({process, alone});
  }
  return found;
}

// Whether a lock is really held is sure where MPI_Win_lock itself waits, of a library in which none
// returns from it without the lock.
void WaitFinder::add_window(CallIndex index, Waiting& waiting) {
  const MpiCall& made = call(index);
  if (made.comm == kNone || made.peer < 0) {
    waiting.unknown = fmt::format("whom {} waits for is not recorded", function(index));
    return;
  }
  const bool locks = function(index) == "MPI_Win_lock";
  const RankGroupRef target = members_.addressed(made.process, made.comm, made.peer);
  OpenWait wait;
  auto held_by = std::make_shared<RankGroup>();
  for (const Holder& holder : holders(made)) {
    const bool excludes = !locks || made.locks_alone || holder.alone;
    if (holder.process != made.process && excludes) held_by->processes.push_back(holder.process);
  }
  if (held_by->processes.empty()) {
    wait.kind = "target";
    wait.text = fmt::format("{} to answer for its window", ranks(*target, false));
    wait.of = target;
    wait.unsure = "its library may need the target for it, or the network alone";
  } else {
    wait.kind = "lock";
    wait.text = fmt::format("the lock of the window of {}, which {} {}", ranks(*target, false),
                            ranks(*held_by, false), held_by->size() == 1 ? "holds" : "hold");
    wait.of = std::move(held_by);
    const bool takes_at_once = job_.logs[made.process].flavour == MpiFlavour::open_mpi;
    if (!locks || !takes_at_once) wait.unsure = "a library may put off the taking of a lock";
  }
  wait.asked_by = index;
  waiting.waits.push_back(std::move(wait));
}

}  // namespace uctrace::merge
