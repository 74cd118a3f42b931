#include "log-merger/waits/one_sided.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "log-merger/mpi/told_origins.hpp"
#include "log-merger/waits/numbers_of_objects.hpp"

namespace uctrace::merge {

OneSided::OneSided(const Job& job, RolesOfCalls& roles) : job_(job), ranks_(job) {
  for (const ProcessIndex process : job.logs.indexes()) add_calls(process, roles);
  note_told();
}

ProcessIndex OneSided::target_of(const MpiCall& c) const {
  const auto addressed = ranks_.addressed(c.process, c.comm, c.peer);
  return addressed ? addressed->process : ProcessIndex();
}

void OneSided::add_calls(ProcessIndex process, RolesOfCalls& roles) {
  const ProcessLog& log = job_.logs[process];
  if (log.windows.empty()) return;
  NumbersOfObjects numbers(log.windows);
  std::map<Key, Access> open;
  Locked locked;
  std::vector<CallIndex> calls;
  for (const auto& lane : log.calls_of_lane) {
    std::copy_if(lane.begin(), lane.end(), std::back_inserter(calls), [&](CallIndex index) {
      const MpiCall& c = call(index);
      return c.on_window && c.window != kNone && c.comm != kNone;
    });
  }
  std::stable_sort(calls.begin(), calls.end(), [&](CallIndex a, CallIndex b) {
    return call(a).start_tick < call(b).start_tick;
  });
  for (const CallIndex index : calls) {
    const MpiCall& c = call(index);
    const Key key{log.comms[c.comm].instance, numbers.of(c.window)};
    Shared& shared = windows_[key];
    shared.processes = job_.comms[key.first].sides[0].size;
    take(shared, index, roles(c).role, open, locked, key);
  }
}

// Handles calls that move data or wait for it.
void OneSided::take_operation(CallIndex index, std::map<Key, Access>& open, Locked& locked,
                              const Key& key) const {
  const MpiCall& c = call(index);
  if (const auto access = open.find(key); access != open.end()) {
    access->second.calls.push_back(index);
    std::vector<ProcessIndex>& targets = access->second.targets;
    const ProcessIndex target = target_of(c);
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(target);
    }
  }
  for (const std::int32_t which : {c.peer, kAllTargets}) {
    const auto access = locked.find({key, which});
    if (access != locked.end()) access->second.calls.push_back(index);
  }
}

void OneSided::end_lock(Shared& shared, CallIndex index, Locked& locked,
                        const std::pair<Key, std::int32_t>& which) const {
  const auto access = locked.find(which);
  if (access == locked.end()) return;
  access->second.calls.push_back(index);
  access->second.ends_ns = call(index).start_ns;
  shared.locks.push_back(std::move(access->second));
  locked.erase(access);
}

void OneSided::take(Shared& shared, CallIndex index, CallRole role, std::map<Key, Access>& open,
                    Locked& locked, const Key& key) {
  const MpiCall& c = call(index);
  std::vector<Exposure>& exposures = shared.exposed[c.process].all;
  switch (role) {
    case CallRole::post:
      exposures.emplace_back().post = index;
      break;
    case CallRole::wait_access:
      if (!exposures.empty()) exposures.back().wait = index;
      break;
    case CallRole::start_access:
      open[key] = {.process = c.process, .calls = {index}, .targets = {}};
      break;
    case CallRole::lock:
      locked[{key, c.peer}] = {.process = c.process,
                               .calls = {index},
                               .targets = {target_of(c)},
                               .alone = c.locks_alone};
      break;
    case CallRole::lock_all:
      locked[{key, kAllTargets}] = {
          .process = c.process, .calls = {index}, .targets = {}, .of_all = true};
      break;
    case CallRole::complete_access:
      if (const auto access = open.find(key); access != open.end()) {
        access->second.calls.push_back(index);
        access->second.ends_ns = c.start_ns;
        shared.accesses.push_back(std::move(access->second));
        open.erase(access);
      }
      break;
    case CallRole::unlock:
      end_lock(shared, index, locked, {key, c.peer});
      break;
    case CallRole::unlock_all:
      end_lock(shared, index, locked, {key, kAllTargets});
      break;
    case CallRole::one_sided:
      take_operation(index, open, locked, key);
      break;
    default:
      break;
  }
}

void OneSided::add_dependency(CallIndex call, CallIndex on) {
  dependencies_.push_back({.kind = DependencyKind::epoch,
                           .call = call.number(),
                           .begun = call.number(),
                           .on = on.number()});
}

// Notes the origins that each MPI_Win_post notified.
void OneSided::note_told() {
  std::map<CallIndex, Exposure*> exposure_of;
  for (auto& [key, shared] : windows_) {
    for (auto& [target, exposed] : shared.exposed) {
      for (Exposure& exposure : exposed.all) exposure_of.emplace(exposure.post, &exposure);
    }
  }
  if (exposure_of.empty()) return;
  for (const UcpOp& op : job_.ucp) {
    if (op.asked_by == kNone || !tells_an_origin(op)) continue;
    const auto found = exposure_of.find(op.asked_by);
    if (found == exposure_of.end()) continue;
    if (op.peer_process == kNone) {
      found->second->tells_others = true;
    } else if (op.peer_process != op.process) {
      found->second->told.insert(op.peer_process);
    }
  }
  for (auto& [key, shared] : windows_) {
    for (auto& [target, exposed] : shared.exposed) {
      for (const Exposure& exposure : exposed.all) {
        exposed.for_any.push_back(&exposure);
        exposed.all_tell = exposed.all_tell && exposure.tells_any();
        for (const ProcessIndex origin : exposure.told) exposed.told[origin].push_back(&exposure);
      }
    }
  }
}

const OneSided::Exposures& OneSided::exposures_for(ProcessIndex origin, const Exposed& target) {
  const auto told = target.told.find(origin);
  return target.all_tell && told != target.told.end() ? told->second : target.for_any;
}

// If access and exposure epochs do not fit, both ends are unknown.
void OneSided::find_epochs(const WaitMaker& maker, const Shared& shared, AwaitedBy& awaited) {
  std::map<std::pair<ProcessIndex, ProcessIndex>, std::vector<const Access*>> of_pair;
  for (const Access& access : shared.accesses) {
    for (const ProcessIndex target : access.targets) {
      of_pair[{access.process, target}].push_back(&access);
    }
  }
  KnownOrigins known;
  static const Exposed kNotExposed;
  for (const auto& [pair, accesses] : of_pair) {
    const auto [origin, target] = pair;
    const auto exposed = shared.exposed.find(target);
    const Exposures& exposures =
        exposures_for(origin, exposed == shared.exposed.end() ? kNotExposed : exposed->second);
    const bool fits = exposures.size() == accesses.size() && job_.logs[origin].is_whole() &&
                      job_.logs[target].is_whole();
    if (!fits) {
      known.may_have_others.insert(exposures.begin(), exposures.end());
      for (const Access* access : accesses) {
        awaited[access->calls.back()].push_back(
            maker.unknown(WaitKind::rma_late_post, access->calls.back(), WaitUnknown::partner));
      }
      continue;
    }
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      find_epoch(maker, *accesses[k], *exposures[k], target, awaited);
      if (origin != target) known.of[exposures[k]].insert(origin);
    }
  }
  for (const auto& [target, exposed] : shared.exposed) {
    for (const Exposure& exposure : exposed.all) {
      if (exposure.wait == kNone || known.all_of(exposure, shared.processes)) continue;
      awaited[exposure.wait].push_back(
          maker.unknown(WaitKind::rma_early_wait, exposure.wait, WaitUnknown::partner));
    }
  }
}

// If no origin was notified, every other process of the window may be one.
bool OneSided::KnownOrigins::all_of(const Exposure& exposure, std::size_t processes) const {
  if (may_have_others.contains(&exposure) || exposure.tells_others) return false;
  const auto found = of.find(&exposure);
  const std::set<ProcessIndex> none;
  const std::set<ProcessIndex>& origins = found == of.end() ? none : found->second;
  if (!exposure.told.empty()) {
    return std::includes(origins.begin(), origins.end(), exposure.told.begin(),
                         exposure.told.end());
  }
  return processes > 0 && origins.size() >= processes - 1;
}

// The access waited in a call that was entered before the exposure began and left afterwards. All
// other calls returned without it.
void OneSided::find_epoch(const WaitMaker& maker, const Access& access, const Exposure& exposure,
                          ProcessIndex target, AwaitedBy& awaited) {
  const std::int64_t posted_ns = call(exposure.post).start_ns;
  add_dependency(access.calls.back(), exposure.post);
  for (const CallIndex index : access.calls) {
    const MpiCall& c = call(index);
    if (c.start_ns < posted_ns && posted_ns < c.end_ns) {
      awaited[index].push_back(
          maker.awaited(WaitKind::rma_late_post, index, target, exposure.post, posted_ns));
    }
  }
  if (exposure.wait == kNone) return;
  add_dependency(exposure.wait, access.calls.back());
  if (access.ends_ns > call(exposure.wait).start_ns) {
    awaited[exposure.wait].push_back(maker.awaited(WaitKind::rma_early_wait, exposure.wait,
                                                   access.process, access.calls.back(),
                                                   access.ends_ns));
  }
}

// The holder of a conflicting lock releases it before this epoch ends: the wait is in the call
// during which that happened. With several holders the last one decides.
void OneSided::find_locks(const WaitMaker& maker, const Shared& shared, AwaitedBy& awaited) {
  std::map<ProcessIndex, std::vector<const Access*>> of_target;
  for (const Access& lock : shared.locks) {
    if (!lock.of_all && lock.targets.front() != kNone) {
      of_target[lock.targets.front()].push_back(&lock);
    }
  }
  // Locks of all targets are shared: they conflict only with exclusive ones.
  for (auto& [target, locks] : of_target) {
    if (std::none_of(locks.begin(), locks.end(), [](const Access* one) { return one->alone; })) {
      continue;
    }
    for (const Access& lock : shared.locks) {
      if (lock.of_all) locks.push_back(&lock);
    }
  }
  for (auto& [target, locks] : of_target) {
    std::sort(locks.begin(), locks.end(),
              [](const Access* a, const Access* b) { return a->ends_ns < b->ends_ns; });
    for (std::size_t i = 0; i < locks.size(); ++i) {
      find_holder(maker, std::span(locks).first(i), *locks[i], target, awaited);
    }
  }
}

// For a lock of all targets: calls that name another target are irrelevant.
bool OneSided::concerns(CallIndex index, ProcessIndex target) const {
  const MpiCall& c = call(index);
  return c.peer < 0 || target_of(c) == target;
}

// `ended`: the locks of the target that ended before `own`.
void OneSided::find_holder(const WaitMaker& maker, std::span<const Access* const> ended,
                           const Access& own, ProcessIndex target, AwaitedBy& awaited) {
  const std::int64_t began_ns = call(own.calls.front()).start_ns;
  for (std::size_t j = ended.size(); j-- > 0 && ended[j]->ends_ns > began_ns;) {
    const Access& holder = *ended[j];
    if (holder.process == own.process || !(holder.alone || own.alone)) continue;
    for (const CallIndex index : own.calls) {
      const MpiCall& c = call(index);
      if (c.start_ns < holder.ends_ns && holder.ends_ns < c.end_ns && concerns(index, target)) {
        add_dependency(index, holder.calls.back());
        awaited[index].push_back(maker.awaited(WaitKind::rma_lock_contention, index, holder.process,
                                               holder.calls.back(), holder.ends_ns));
      }
    }
    return;
  }
}

std::vector<CallDependency> OneSided::find_waits(const WaitMaker& maker, std::vector<Wait>& rows) {
  AwaitedBy awaited;
  for (const auto& [key, shared] : windows_) {
    find_epochs(maker, shared, awaited);
    find_locks(maker, shared, awaited);
  }
  for (auto& [index, of_call] : awaited) maker.add(index, std::move(of_call), rows);
  return std::move(dependencies_);
}

}  // namespace uctrace::merge
