#include "log-merger/waits/collectives.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "log-merger/waits/windows.hpp"

namespace uctrace::merge {

namespace {

WaitKind kind_of_wait(CallRole role) {
  switch (role) {
    case CallRole::barrier:
      return WaitKind::wait_barrier;
    case CallRole::from_root:
      return WaitKind::late_broadcast;
    case CallRole::to_root:
      return WaitKind::early_reduce;
    case CallRole::from_lower_ranks:
      return WaitKind::early_scan;
    case CallRole::makes_window:
    case CallRole::frees_window:
      return WaitKind::rma_wait_at_create;
    case CallRole::fence:
      return WaitKind::rma_wait_at_fence;
    case CallRole::end_of_mpi:
      return WaitKind::wait_finalize;
    default:
      return WaitKind::wait_nxn;
  }
}

std::optional<WaitKind> kind_of_completion(CallRole role) {
  if (role == CallRole::barrier) return WaitKind::barrier_completion;
  if (role == CallRole::all_with_all) return WaitKind::nxn_completion;
  return std::nullopt;
}

// MPI lets these return before all have entered them; that they waited is seen from their times.
bool may_not_synchronise(CallRole role) {
  return role == CallRole::makes_window || role == CallRole::frees_window ||
         role == CallRole::fence || role == CallRole::end_of_mpi;
}

bool moves_data(CallRole role) {
  return role >= CallRole::all_with_all && role <= CallRole::from_lower_ranks;
}

// MPI lets a process call MPI_Bcast and another one MPI_Bcast_c.
std::string_view without_suffix(std::string_view function) {
  return function.ends_with("_c") ? function.substr(0, function.size() - 2) : function;
}

}  // namespace

CallIndex CollectiveOperation::left_by_process(const Job& job, ProcessIndex process) const {
  const auto own = std::partition_point(calls.begin(), calls.end(), [&](CallIndex index) {
    return job.calls[index].process < process;
  });
  if (own == calls.end() || job.calls[*own].process != process) return {};
  return left_by[static_cast<std::size_t>(own - calls.begin())];
}

Collectives::Collectives(const Job& job, RolesOfCalls& roles) : job_(job) {
  std::map<Key, Sequences> groups;
  for (const ProcessIndex process : job.logs.indexes()) add_calls(process, roles, groups);
  for (const auto& [key, sequences] : groups) {
    const CommInstance& comm = job.comms[std::get<InstanceIndex>(key)];
    if (!comm.inter && comm.sides[0].size > 1) lay_out(sequences, comm.sides[0].size, roles);
  }
}

void Collectives::add_calls(ProcessIndex process, RolesOfCalls& roles,
                            std::map<Key, Sequences>& groups) {
  const ProcessLog& log = job_.logs[process];
  const InstanceIndex world = world_of(process);
  NumbersOfWindows windows(log);
  std::map<Key, std::vector<CallIndex>> own;
  for (const auto& lane : log.calls_of_lane) {
    for (const CallIndex index : lane) {
      const MpiCall& c = call(index);
      const CallRole role = roles(c).role;
      if (role == CallRole::end_of_mpi && world != kNone) {
        own[{world, Scope::mpi, 0}].push_back(index);
      }
      if (c.comm == kNone) continue;
      const InstanceIndex instance = log.comms[c.comm].instance;
      if (instance == kNone) continue;
      if (is_collective(role)) {
        own[{instance, Scope::communicator, 0}].push_back(index);
      } else if (role == CallRole::makes_window) {
        own[{instance, Scope::windows, 0}].push_back(index);
      } else if (role == CallRole::fence || role == CallRole::frees_window) {
        if (c.window != kNone) {
          own[{instance, Scope::window, windows.of(c.window)}].push_back(index);
        }
      }
    }
  }
  for (auto& [key, calls] : own) {
    std::stable_sort(calls.begin(), calls.end(), [&](CallIndex a, CallIndex b) {
      return call(a).start_tick < call(b).start_tick;
    });
    groups[key][process] = std::move(calls);
  }
}

void Collectives::lay_out(const Sequences& sequences, std::size_t members, RolesOfCalls& roles) {
  std::size_t length = 0;
  bool known = sequences.size() == members;
  for (const auto& [process, calls] : sequences) {
    length = std::max(length, calls.size());
    known = known && job_.logs[process].is_whole();
  }
  for (std::size_t k = 0; k < length; ++k) {
    CollectiveOperation operation;
    for (const auto& [process, calls] : sequences) {
      if (k < calls.size()) operation.calls.push_back(calls[k]);
    }
    const MpiCall& first = call(operation.calls.front());
    operation.role = roles(first).role;
    operation.begins = roles(first).begins;
    known = known && operation.calls.size() == members &&
            std::all_of(operation.calls.begin(), operation.calls.end(), [&](CallIndex other) {
              return call(other).function == first.function ||
                     without_suffix(job_.run.texts[call(other).function]) ==
                         without_suffix(job_.run.texts[first.function]);
            });
    operation.complete = known;
    finish(operation);
    for (const CallIndex index : operation.calls) {
      const bool begins = roles(call(index)).begins;
      if (begins) begun_[index] = operations_.size();
      operation.left_by.push_back(begins ? CallIndex() : index);
    }
    operations_.push_back(std::move(operation));
  }
}

void Collectives::finish(CollectiveOperation& operation) const {
  if (!operation.complete) return;
  for (const CallIndex index : operation.calls) {
    const MpiCall& c = call(index);
    if (c.start_ns < 0 || c.open || c.end_ns < 0) {
      operation.complete = false;
      return;
    }
    if (operation.last == kNone || c.start_ns > call(operation.last).start_ns) {
      operation.last = index;
    }
    const bool of_root =
        operation.role == CallRole::from_root || operation.role == CallRole::to_root;
    if (of_root && static_cast<std::int64_t>(rank_in_comm(index)) == c.peer) operation.root = index;
    if (operation.first_left == kNone || c.end_ns < call(operation.first_left).end_ns) {
      operation.first_left = index;
    }
  }
  if (may_not_synchronise(operation.role) &&
      call(operation.first_left).end_ns < call(operation.last).start_ns) {
    operation.role = CallRole::other;
  }
  const bool empty = std::all_of(
      operation.calls.begin(), operation.calls.end(),
      [&](CallIndex index) { return call(index).bytes == 0 && call(index).recv_bytes == 0; });
  if (empty && moves_data(operation.role)) operation.role = CallRole::other;
}

InstanceIndex Collectives::world_of(ProcessIndex process) const {
  for (const Comm& comm : job_.logs[process].comms) {
    if (comm.predefined == Predefined::world) return comm.instance;
  }
  return {};
}

std::uint32_t Collectives::rank_in_comm(CallIndex index) const {
  const MpiCall& c = call(index);
  return job_.logs[c.process].comms[c.comm].rank;
}

// The call that decides until when a process of the operation waits, kNone where it does not. It is
// given by its own call in the operation.
CallIndex Collectives::late_for(const CollectiveOperation& operation, CallIndex own) const {
  const auto last_of = [&](auto&& is_meant) {
    CallIndex last;
    for (const CallIndex index : operation.calls) {
      if (index == own || !is_meant(index)) continue;
      if (last == kNone || call(index).start_ns > call(last).start_ns) last = index;
    }
    return last;
  };
  switch (operation.role) {
    case CallRole::from_root:
      return operation.root == own ? CallIndex() : operation.root;
    case CallRole::to_root:
      return operation.root == own ? last_of([](CallIndex) { return true; }) : CallIndex();
    case CallRole::from_lower_ranks:
      return last_of([&](CallIndex index) { return rank_in_comm(index) < rank_in_comm(own); });
    case CallRole::barrier:
    case CallRole::all_with_all:
    case CallRole::makes_window:
    case CallRole::frees_window:
    case CallRole::fence:
    case CallRole::end_of_mpi:
      return operation.last == own ? CallIndex() : operation.last;
    default:
      return {};
  }
}

// The same for all of them at once: a scan of n processes has n * n pairs.
std::unordered_map<CallIndex, CallIndex> Collectives::late_of_scan(
    const CollectiveOperation& operation) const {
  std::vector<CallIndex> by_rank = operation.calls;
  std::sort(by_rank.begin(), by_rank.end(),
            [&](CallIndex a, CallIndex b) { return rank_in_comm(a) < rank_in_comm(b); });
  std::unordered_map<CallIndex, CallIndex> late;
  CallIndex last;
  for (const CallIndex index : by_rank) {
    late[index] = last;
    if (last == kNone || call(index).start_ns > call(last).start_ns) last = index;
  }
  return late;
}

// By its own arguments, whatever the others did.
bool Collectives::never_waits(const CollectiveOperation& operation, CallIndex index) const {
  const auto rank = static_cast<std::int64_t>(rank_in_comm(index));
  switch (operation.role) {
    case CallRole::from_root:
      return rank == call(index).peer;
    case CallRole::to_root:
      return rank != call(index).peer;
    case CallRole::from_lower_ranks:
      return rank == 0;
    default:
      return false;
  }
}

void Collectives::find_waits_of(const WaitMaker& maker, const CollectiveOperation& operation,
                                std::vector<Wait>& rows) const {
  if (operation.role == CallRole::other || operation.role == CallRole::over_counts) return;
  const bool scans = operation.complete && operation.role == CallRole::from_lower_ranks;
  std::unordered_map<CallIndex, CallIndex> of_scan;
  if (scans) of_scan = late_of_scan(operation);
  for (const CallIndex index : operation.calls) {
    const WaitKind kind = kind_of_wait(operation.role);
    if (!operation.complete) {
      if (never_waits(operation, index)) continue;
      maker.add(index, {maker.unknown(kind, index, WaitUnknown::members)}, rows);
      continue;
    }
    const CallIndex late = scans ? of_scan.at(index) : late_for(operation, index);
    if (late != kNone) {
      Awaited one = maker.awaited(kind, index, call(late).process, late, call(late).start_ns);
      maker.add(index, {one}, rows);
    }
    if (const auto completion = kind_of_completion(operation.role)) {
      maker.add_completion(*completion, index, operation.last, operation.first_left, rows);
    }
  }
}

void Collectives::find_waits(const WaitMaker& maker, std::vector<Wait>& rows) const {
  for (const CollectiveOperation& operation : operations_) {
    if (!operation.begins) find_waits_of(maker, operation, rows);
  }
}

std::vector<Awaited> Collectives::awaited(const WaitMaker& maker, CallIndex waiting,
                                          CallIndex begun) const {
  constexpr WaitKind kKind = WaitKind::nonblocking_collective;
  if (processes_of(call(begun)) == 1) return {};
  const auto found = begun_.find(begun);
  if (found == begun_.end()) return {maker.unknown(kKind, waiting, WaitUnknown::members)};
  const CollectiveOperation& operation = operations_[found->second];
  if (operation.role == CallRole::over_counts) {
    return {maker.unknown(kKind, waiting, WaitUnknown::partner)};
  }
  if (operation.role == CallRole::other) return {};
  if (!operation.complete) {
    if (never_waits(operation, begun)) return {};
    return {maker.unknown(kKind, waiting, WaitUnknown::members)};
  }
  const CallIndex late = late_for(operation, begun);
  if (late == kNone) return {};
  return {maker.awaited(kKind, waiting, call(late).process, late, call(late).start_ns)};
}

void Collectives::completed_by(CallIndex waiting, CallIndex begun) {
  const auto found = begun_.find(begun);
  if (found == begun_.end()) return;
  CollectiveOperation& operation = operations_[found->second];
  const auto own =
      std::lower_bound(operation.calls.begin(), operation.calls.end(), begun,
                       [&](CallIndex a, CallIndex b) { return call(a).process < call(b).process; });
  operation.left_by[static_cast<std::size_t>(own - operation.calls.begin())] = waiting;
}

// Of both sides of an intercommunicator; 0 = not known.
std::size_t Collectives::processes_of(const MpiCall& c) const {
  if (c.comm == kNone) return 0;
  const InstanceIndex instance = job_.logs[c.process].comms[c.comm].instance;
  if (instance == kNone) return 0;
  const CommInstance& comm = job_.comms[instance];
  return comm.inter ? comm.sides[0].size + comm.sides[1].size : comm.sides[0].size;
}

bool Collectives::has_no_rule(const MpiCall& c, CallRole role) const {
  if (processes_of(c) == 1) return false;
  if (role == CallRole::over_counts || role == CallRole::manages) return true;
  if (!is_collective(role) || c.comm == kNone) return false;
  const InstanceIndex instance = job_.logs[c.process].comms[c.comm].instance;
  return instance != kNone && job_.comms[instance].inter;
}

}  // namespace uctrace::merge
