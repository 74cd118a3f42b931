// Waits of window calls, and of the end of MPI.
#include <fmt/format.h>

#include <algorithm>

#include "log-merger/hang/needs.hpp"
#include "log-merger/mpi/told_origins.hpp"

namespace uctrace::merge {

// --- the end of MPI ------------------------------------------------------------------------------

void NeedFinder::add_finalize(CallIndex index, Waiting& waiting) {
  const Index of_world = job_.logs[call(index).process].world;
  const auto [known, fresh] = not_finalizing_.try_emplace(of_world);
  if (fresh) known->second = not_in_finalize(of_world, function(index));
  const RankGroupRef& others = known->second.group;
  if (others->empty()) return;
  OpenWait wait;
  wait.kind = "finalize";
  wait.text = fmt::format("{} to enter {}", ranks(*others, false), function(index));
  wait.of = others;
  wait.unsure = known->second.unsure;
  wait.asked_by = index;
  waiting.waits.push_back(std::move(wait));
}

// A process that finalized has entered MPI_Finalize, even if its call was not recorded.
NeedFinder::NotFinalizing NeedFinder::not_in_finalize(Index of_world,
                                                      const std::string& finalize) const {
  NotFinalizing found;
  const RankGroupRef world = members_.world(of_world);
  auto others = std::make_shared<RankGroup>(*world);
  others->processes.clear();
  for (const ProcessIndex process : world->processes) {
    const auto& lanes = job_.logs[process].calls_of_lane;
    const bool entered = exit_of(job_, process) == "finalized" ||
                         std::any_of(lanes.begin(), lanes.end(), [&](const auto& calls) {
                           return !calls.empty() && function(calls.back()) == finalize;
                         });
    if (entered) continue;
    others->processes.push_back(process);
    const std::string why = why_incomplete(job_, process);
    if (found.unsure.empty() && !why.empty()) {
      found.unsure = fmt::format("whether rank {} entered it is not known: {}",
                                 job_.run.processes[process.place()].rank, why);
    }
  }
  found.group = std::move(others);
  return found;
}

// --- locks ---------------------------------------------------------------------------------------

// Locks that a process took and has not released, by the order of its calls.
void NeedFinder::find_holders(ProcessIndex process) {
  struct Step {
    CallIndex call;
    bool takes, of_all;
  };
  std::vector<Step> steps;
  for (const auto& calls : job_.logs[process].calls_of_lane) {
    for (const CallIndex index : calls) {
      const MpiCall& one = call(index);
      if (!one.on_window || one.open || one.status != 0) continue;
      const std::string& name = function(index);
      const bool of_all = name == "MPI_Win_lock_all" || name == "MPI_Win_unlock_all";
      const bool takes = name == "MPI_Win_lock" || name == "MPI_Win_lock_all";
      if (takes || of_all || name == "MPI_Win_unlock") steps.push_back({index, takes, of_all});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return call(a.call).start_tick < call(b.call).start_tick;
  });
  std::map<LockKey, bool> held;
  for (const Step& step : steps) {
    const MpiCall& one = call(step.call);
    const LockKey key{members_.instance(process, one.comm), collectives_.window_of(one),
                      step.of_all ? -1 : one.peer};
    if (step.takes) {
      held[key] = one.locks_alone;
    } else {
      held.erase(key);
    }
  }
  for (const auto& [key, alone] : held) holders_[key].push_back({process, alone});
}

void NeedFinder::find_holders() {
  if (holders_known_) return;
  holders_known_ = true;
  for (const ProcessIndex process : job_.logs.indexes()) {
    if (!sitters_.gone[process] && !job_.logs[process].windows.empty()) find_holders(process);
  }
}

// The processes whose lock on a window's target blocks another one, shared or exclusive.
RankGroupRef NeedFinder::holders(const MpiCall& waiting, bool shares, std::string& unsure) {
  find_holders();
  auto group = std::make_shared<RankGroup>();
  const InstanceIndex instance = members_.instance(waiting.process, waiting.comm);
  const std::int32_t window = collectives_.window_of(waiting);
  for (const std::int32_t target : {waiting.peer, -1}) {
    const auto found = holders_.find({instance, window, target});
    if (found == holders_.end()) continue;
    for (const Holder& holder : found->second) {
      if (holder.process == waiting.process || (shares && !holder.alone)) continue;
      group->processes.push_back(holder.process);
      const std::string why = why_incomplete(job_, holder.process);
      if (unsure.empty() && !why.empty()) {
        unsure = fmt::format("rank {} may have given its lock back: {}",
                             job_.run.processes[holder.process.place()].rank, why);
      }
    }
  }
  std::sort(group->processes.begin(), group->processes.end());
  return group;
}

// --- exposure epochs -----------------------------------------------------------------------------

// The MPI_Win_post that began the epoch which an MPI_Win_wait ends; kNone for other calls.
CallIndex NeedFinder::post_of(CallIndex win_wait) const {
  const MpiCall& wait = call(win_wait);
  const bool is_known = wait.on_window && wait.window != kNone && wait.comm != kNone;
  if (!is_known || function(win_wait) != "MPI_Win_wait") return {};
  CallIndex newest;
  for (const auto& calls : job_.logs[wait.process].calls_of_lane) {
    for (const CallIndex index : calls) {
      const MpiCall& one = call(index);
      if (!one.on_window || one.window != wait.window || one.start_tick > wait.start_tick) continue;
      if (function(index) != "MPI_Win_post" || one.open) continue;
      if (newest == kNone || one.start_tick > call(newest).start_tick) newest = index;
    }
  }
  return newest;
}

void NeedFinder::note_told(const UcpOp& op) {
  const auto found = told_.find(op.asked_by);
  if (found == told_.end() || !tells_an_origin(op)) return;
  RankGroup& group = found->second;
  if (op.peer_process == kNone || !is_rank(job_, op.peer_process)) {
    group.complete = false;
  } else if (!group.contains(op.peer_process)) {
    group.processes.insert(
        std::lower_bound(group.processes.begin(), group.processes.end(), op.peer_process),
        op.peer_process);
  }
}

void NeedFinder::find_completes() {
  if (completes_known_) return;
  completes_known_ = true;
  for (const ProcessIndex process : job_.logs.indexes()) {
    if (job_.logs[process].windows.empty()) continue;
    for (const auto& calls : job_.logs[process].calls_of_lane) {
      for (const CallIndex index : calls) {
        const MpiCall& one = call(index);
        if (!one.on_window || one.open || one.comm == kNone || one.window == kNone) continue;
        if (function(index) != "MPI_Win_complete") continue;
        completes_[{process, members_.instance(process, one.comm), collectives_.window_of(one)}]
            .push_back(index);
      }
    }
  }
}

// Whether the origin ended its access epoch after the post. An end that may belong to an earlier
// epoch, or to other targets, is no proof.
NeedFinder::Ended NeedFinder::has_ended(ProcessIndex origin, CallIndex post) {
  find_completes();
  const MpiCall& posted = call(post);
  const auto found = completes_.find(
      {origin, members_.instance(posted.process, posted.comm), collectives_.window_of(posted)});
  if (found == completes_.end()) return Ended::no;
  Ended ended = Ended::no;
  for (const CallIndex index : found->second) {
    const MpiCall& one = call(index);
    const auto margin_ns =
        clock_margin_ns(job_, origin, one.end_ns, posted.process, posted.start_ns);
    if (margin_ns && one.end_ns + *margin_ns < posted.start_ns) continue;
    if (margin_ns && one.start_ns > posted.start_ns + *margin_ns) return Ended::since;
    ended = Ended::maybe;
  }
  return ended;
}

void NeedFinder::add_exposure(CallIndex index, Waiting& waiting) {
  const CallIndex post = post_of(index);
  const auto told = told_.find(post);
  const bool is_known = told != told_.end() && !told->second.processes.empty();
  if (!is_known || !told->second.complete) {
    waiting.unknown = fmt::format("whom {} waits for is not recorded", function(index));
    return;
  }
  if (const std::string why = why_incomplete(job_, call(index).process); !why.empty()) {
    waiting.unknown = fmt::format("whom {} waits for is not known: {}", function(index), why);
    return;
  }
  auto awaited = std::make_shared<RankGroup>();
  OpenWait wait;
  for (const ProcessIndex origin : told->second.processes) {
    const Ended ended = has_ended(origin, post);
    if (ended == Ended::since) continue;
    awaited->processes.push_back(origin);
    std::string why = why_incomplete(job_, origin);
    if (why.empty() && ended == Ended::maybe) why = "it did so at about the time of MPI_Win_post";
    if (wait.unsure.empty() && !why.empty()) {
      wait.unsure = fmt::format("whether rank {} called MPI_Win_complete is not known: {}",
                                job_.run.processes[origin.place()].rank, why);
    }
  }
  if (awaited->processes.empty()) {
    waiting.on_its_way = "all origins that are known have called MPI_Win_complete";
    return;
  }
  wait.kind = "origin";
  wait.text = fmt::format("{} to call MPI_Win_complete", ranks(*awaited, false));
  wait.of = std::move(awaited);
  wait.asked_by = index;
  waiting.waits.push_back(std::move(wait));
}

// --- locks, and the targets of operations --------------------------------------------------------

// It is certain that a lock is held only if MPI_Win_lock itself waits, in a library in which it
// never returns without the lock.
void NeedFinder::add_window(CallIndex index, Waiting& waiting) {
  const MpiCall& made = call(index);
  if (function(index) == "MPI_Win_wait") return add_exposure(index, waiting);
  if (made.comm == kNone || made.peer < 0) {
    waiting.unknown = fmt::format("whom {} waits for is not recorded", function(index));
    return;
  }
  const bool locks = function(index) == "MPI_Win_lock";
  const RankGroupRef target = members_.addressed(made.process, made.comm, made.peer);
  OpenWait wait;
  wait.asked_by = index;
  RankGroupRef held_by = holders(made, locks && !made.locks_alone, wait.unsure);
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
  waiting.waits.push_back(std::move(wait));
}

}  // namespace uctrace::merge
