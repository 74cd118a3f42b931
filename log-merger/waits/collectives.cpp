// Groups calls into operations; collective_waits.cpp finds the waits in them.
#include "log-merger/waits/collectives.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "log-merger/waits/numbers_of_objects.hpp"

namespace uctrace::merge {

namespace {

bool moves_data(CallRole role) {
  return role >= CallRole::all_with_all && role <= CallRole::from_lower_ranks;
}

// MPI allows one process to call MPI_Bcast and another MPI_Bcast_c.
std::string_view without_suffix(std::string_view function) {
  return function.ends_with("_c") ? function.substr(0, function.size() - 2) : function;
}

}  // namespace

std::optional<std::size_t> CollectiveOperation::place_of(const Job& job,
                                                         ProcessIndex process) const {
  const auto own = std::partition_point(calls.begin(), calls.end(), [&](CallIndex index) {
    return job.calls[index].process < process;
  });
  if (own == calls.end() || job.calls[*own].process != process) return std::nullopt;
  return static_cast<std::size_t>(own - calls.begin());
}

CallIndex CollectiveOperation::left_by_process(const Job& job, ProcessIndex process) const {
  const auto place = place_of(job, process);
  return place ? left_by[*place] : CallIndex();
}

std::uint32_t CollectiveOperation::rank_at(const Job& job, std::size_t place) const {
  const MpiCall& call = job.calls[told_by(place)];
  return call.comm == kNone ? 0 : job.logs[call.process].comms[call.comm].rank;
}

Collectives::Collectives(const Job& job, RolesOfCalls& roles) : job_(job), proven_(job) {
  Groups groups;
  for (const ProcessIndex process : job.logs.indexes()) add_calls(process, roles, groups);
  for (const auto& [key, sequences] : groups) lay_out(key, sequences, roles);
}

InstanceIndex Collectives::instance_of(const MpiCall& c) const {
  return c.comm == kNone ? InstanceIndex() : job_.logs[c.process].comms[c.comm].instance;
}

void Collectives::add_calls(ProcessIndex process, RolesOfCalls& roles, Groups& groups) {
  const ProcessLog& log = job_.logs[process];
  const InstanceIndex world = world_of(process);
  const NumbersOfObjects windows(log.windows), files(log.files);
  Own own;
  for (const auto& lane : log.calls_of_lane) {
    for (const CallIndex index : lane) {
      const MpiCall& c = call(index);
      const CallRole role = roles(c).role;
      if (role == CallRole::end_of_mpi && world != kNone) {
        own[{world, Scope::mpi, 0}].emplace_back(index);
      }
      const InstanceIndex instance = instance_of(c);
      if (is_of_no_operation(c, role) || instance == kNone) continue;
      if (is_collective(role)) {
        own[{instance, Scope::communicator, 0}].emplace_back(index);
      } else if (role == CallRole::makes_window) {
        own[{instance, Scope::windows, 0}].emplace_back(index);
      } else if (role == CallRole::fence || role == CallRole::frees_window) {
        own[{instance, Scope::window, windows.of(c.window)}].emplace_back(index);
      } else if (role == CallRole::opens_file) {
        own[{instance, Scope::files, 0}].emplace_back(index);
      } else if (role == CallRole::on_file) {
        own[{instance, Scope::file, files.of(c.window)}].emplace_back(index);
      }
    }
  }
  add_starts(process, roles, own);
  for (auto& [key, calls] : own) {
    std::stable_sort(calls.begin(), calls.end(), [&](const EntryOfCall& a, const EntryOfCall& b) {
      return call(a.entered).start_tick < call(b.entered).start_tick;
    });
    groups[key][process] = std::move(calls);
  }
}

// A persistent request is identified by its number among those made by collective calls of its
// communicator.
void Collectives::add_starts(ProcessIndex process, RolesOfCalls& roles, Own& own) {
  const ProcessLog& log = job_.logs[process];
  if (log.makers_of_started.empty()) return;
  std::vector<CallIndex> makers;
  for (const auto& lane : log.calls_of_lane) {
    std::copy_if(lane.begin(), lane.end(), std::back_inserter(makers), [&](CallIndex index) {
      return roles.starts(call(index)) != CallRole::other && instance_of(call(index)) != kNone;
    });
  }
  std::stable_sort(makers.begin(), makers.end(), [&](CallIndex a, CallIndex b) {
    return call(a).start_tick < call(b).start_tick;
  });
  std::unordered_map<CallIndex, Key> key_of_maker;
  std::map<InstanceIndex, std::int32_t> made;
  for (const CallIndex maker : makers) {
    const InstanceIndex instance = instance_of(call(maker));
    key_of_maker.emplace(maker, Key{instance, Scope::starts, made[instance]++});
  }
  for (const auto& [start, started] : log.makers_of_started) {
    for (const CallIndex maker : started) {
      if (maker == kNone) unknown_starts_.insert(process);
      const auto key = key_of_maker.find(maker);
      if (key != key_of_maker.end()) own[key->second].emplace_back(start, maker);
    }
  }
}

void Collectives::lay_out(const Key& key, const Sequences& sequences, RolesOfCalls& roles) {
  const CommInstance& comm = job_.comms[std::get<InstanceIndex>(key)];
  const std::size_t members = comm.sides[0].size + (comm.inter ? comm.sides[1].size : 0);
  const bool both_known = !comm.inter || (comm.sides[0].size > 0 && comm.sides[1].size > 0);
  if (members == 1 && both_known) return;
  const bool starts = std::get<Scope>(key) == Scope::starts;
  std::size_t length = 0;
  bool known = both_known && sequences.size() == members;
  for (const auto& [process, calls] : sequences) {
    length = std::max(length, calls.size());
    known =
        known && job_.logs[process].is_whole() && !(starts && unknown_starts_.contains(process));
  }
  for (std::size_t k = 0; k < length; ++k) {
    CollectiveOperation operation;
    for (const auto& [process, calls] : sequences) {
      if (k >= calls.size()) continue;
      operation.calls.push_back(calls[k].entered);
      if (starts) operation.makers.push_back(calls[k].told_by);
    }
    const MpiCall& first = call(operation.told_by(0));
    operation.role = starts ? roles.starts(first) : roles(first).role;
    operation.begins = starts || roles(first).begins;
    // MPI_Finalize has no communicator, whatever a log says about the world.
    operation.inter = comm.inter && std::get<Scope>(key) != Scope::mpi;
    known = known && operation.calls.size() == members && agree(operation);
    operation.complete = known;
    finish(operation);
    add_operation(std::move(operation), starts);
  }
}

bool Collectives::agree(const CollectiveOperation& operation) const {
  const TextId function = call(operation.told_by(0)).function;
  for (std::size_t place = 1; place < operation.calls.size(); ++place) {
    const TextId other = call(operation.told_by(place)).function;
    if (other != function &&
        without_suffix(job_.run.texts[other]) != without_suffix(job_.run.texts[function])) {
      return false;
    }
  }
  return true;
}

void Collectives::add_operation(CollectiveOperation operation, bool starts) {
  for (std::size_t place = 0; place < operation.calls.size(); ++place) {
    const CallIndex index = operation.calls[place];
    if (operation.begins) {
      const EntryOfCall begun =
          starts ? EntryOfCall(index, operation.makers[place]) : EntryOfCall(index);
      begun_[begun] = operations_.size();
    }
    operation.left_by.push_back(operation.begins ? CallIndex() : index);
  }
  operations_.push_back(std::move(operation));
}

void Collectives::note_times(CollectiveOperation& operation, std::size_t place) const {
  const CallIndex index = operation.calls[place];
  const MpiCall& c = call(index);
  operation.last = later(operation.last, index);
  if (operation.inter) {
    CallIndex& last = operation.last_of_side[side_at(operation, place)];
    last = later(last, index);
  }
  const std::int32_t root = call(operation.told_by(place)).peer;
  const bool of_root = operation.role == CallRole::from_root || operation.role == CallRole::to_root;
  const bool is_root = operation.inter
                           ? root == log::MpiCall::kRoot
                           : static_cast<std::int64_t>(operation.rank_at(job_, place)) == root;
  if (of_root && is_root) operation.root = index;
  if (operation.first_left == kNone || c.end_ns < call(operation.first_left).end_ns) {
    operation.first_left = index;
  }
}

void Collectives::finish(CollectiveOperation& operation) const {
  if (!operation.complete) return;
  for (std::size_t place = 0; place < operation.calls.size(); ++place) {
    const MpiCall& c = call(operation.calls[place]);
    if (c.start_ns < 0 || c.open || c.end_ns < 0) {
      operation.complete = false;
      return;
    }
    note_times(operation, place);
  }
  const ProcessIndex first = call(operation.calls.front()).process;
  const bool one_time = std::all_of(
      operation.calls.begin(), operation.calls.end(),
      [&](CallIndex index) { return are_comparable(job_, first, call(index).process); });
  if (!one_time) operation.across = across_clocks(operation);
  if (may_not_synchronise(operation.role) && operation.one_time() &&
      call(operation.first_left).end_ns < call(operation.last).start_ns) {
    operation.role = CallRole::other;
  }
  if (has_no_rule(operation.role)) {
    operation.by_entry = operation.calls;
    std::sort(operation.by_entry.begin(), operation.by_entry.end(),
              [&](CallIndex a, CallIndex b) { return call(a).start_ns < call(b).start_ns; });
    return;
  }
  for (std::size_t place = 0; place < operation.calls.size(); ++place) {
    const MpiCall& c = call(operation.told_by(place));
    if (c.bytes > 0 || c.recv_bytes > 0) return;
  }
  if (moves_data(operation.role)) operation.role = CallRole::other;
}

InstanceIndex Collectives::world_of(ProcessIndex process) const {
  for (const Comm& comm : job_.logs[process].comms) {
    if (comm.predefined == Predefined::world) return comm.instance;
  }
  return {};
}

const CollectiveOperation* Collectives::begun_by(const EntryOfCall& begun) const {
  const auto found = begun_.find(begun);
  return found == begun_.end() ? nullptr : &operations_[found->second];
}

void Collectives::completed_by(CallIndex waiting, EntryOfCall begun) {
  const auto found = begun_.find(begun);
  if (found == begun_.end()) return;
  CollectiveOperation& operation = operations_[found->second];
  operation.left_by[*operation.place_of(job_, call(begun.entered).process)] = waiting;
}

CallIndex Collectives::left_by(EntryOfCall begun) const {
  const CollectiveOperation* operation = begun_by(begun);
  return operation == nullptr ? begun.entered
                              : operation->left_by_process(job_, call(begun.entered).process);
}

// For both sides of an intercommunicator; 0 = not known.
std::size_t Collectives::processes_of(const MpiCall& c) const {
  const InstanceIndex instance = instance_of(c);
  if (instance == kNone) return 0;
  const CommInstance& comm = job_.comms[instance];
  return comm.inter ? comm.sides[0].size + comm.sides[1].size : comm.sides[0].size;
}

bool Collectives::is_of_no_operation(const MpiCall& c, CallRole role) const {
  if (role == CallRole::with_others) return true;
  const bool on_window = role == CallRole::frees_window || role == CallRole::fence;
  const bool on_file = role == CallRole::on_file;
  if (!is_collective(role) && role != CallRole::makes_window && role != CallRole::opens_file &&
      !on_window && !on_file) {
    return false;
  }
  return instance_of(c) == kNone || ((on_window || on_file) && c.window == kNone);
}

}  // namespace uctrace::merge
