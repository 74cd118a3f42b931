// Groups the calls of a communicator's, window's or file's processes into operations, and finds the
// waits in them. Private to the waits.
//
// All processes make the collective calls of a communicator in one order, so the k-th call of each
// is the k-th operation. That needs all calls of all processes: after an unrecorded or dropped
// call, or a disagreement of functions, nothing more is claimed. Persistent requests are made in
// that order, too, and started equally often by each: the k-th starts of the same request are one
// operation.
//
// If the name of an operation does not tell the dependencies, its messages may
// (proven_entries.hpp). Anything they do not prove is unknown if another process entered the
// operation while a process was in it; nobody waited for processes that entered later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/proven_entries.hpp"
#include "log-merger/waits/wait_maker.hpp"

namespace uctrace::merge {

// The call by which a process enters an operation, and the call with the operation's arguments: the
// same unless persistent.
struct EntryOfCall {
  EntryOfCall(CallIndex call) : entered(call), told_by(call) {}
  EntryOfCall(CallIndex start, CallIndex maker) : entered(start), told_by(maker) {}
  friend auto operator<=>(const EntryOfCall&, const EntryOfCall&) = default;

  CallIndex entered, told_by;
};

struct HashOfEntry {
  std::size_t operator()(const EntryOfCall& entry) const {
    return std::hash<CallIndex>()(entry.entered) * 31 + std::hash<CallIndex>()(entry.told_by);
  }
};

// One operation: a call of each process that is in it.
struct CollectiveOperation {
  CallRole role = CallRole::other;
  bool begins = false;            // other calls complete it
  bool complete = true;           // every process of it has a call that has ended or need not end
  bool inter = false;             // between the two groups of an intercommunicator
  std::vector<CallIndex> calls;   // by process
  std::vector<CallIndex> makers;  // for a persistent one: the calls that made the requests, by
                                  // process
  // The calls by which these processes left it: the same, or those that complete non-blocking ones;
  // kNone = not known.
  std::vector<CallIndex> left_by;
  // The last to enter, of each group and of all, and the first to leave; only if complete.
  CallIndex last, last_of_side[2], first_left;
  CallIndex root;                   // of one from or to a root
  std::vector<CallIndex> by_entry;  // the calls by time, where there is no rule
  // By process, empty if all clocks can be compared: the last to enter among those that it may wait
  // for with comparable clocks, and whether these are all.
  struct Comparable {
    CallIndex late;
    bool are_all = true;
  };
  std::vector<Comparable> across;

  // Whether the clocks of its processes can be compared.
  bool one_time() const { return across.empty(); }

  // The call with the operation's arguments.
  CallIndex told_by(std::size_t place) const {
    return makers.empty() ? calls[place] : makers[place];
  }
  // The place of a process in `calls`; nothing if it is not there.
  std::optional<std::size_t> place_of(const Job& job, ProcessIndex process) const;
  // From `left_by`; kNone if the process is not there.
  CallIndex left_by_process(const Job& job, ProcessIndex process) const;
  std::uint32_t rank_at(const Job& job, std::size_t place) const;
};

class Collectives {
 public:
  Collectives(const Job& job, RolesOfCalls& roles);

  const std::vector<CollectiveOperation>& operations() const { return operations_; }
  const ProvenEntries& proven() const { return proven_; }

  // Waits in the calls themselves.
  void find_waits(const WaitMaker& maker, std::vector<Wait>& rows) const;

  // The waits of `waiting`, which completes the non-blocking operation begun by `begun`.
  std::vector<Awaited> awaited(const WaitMaker& maker, CallIndex waiting, EntryOfCall begun) const;

  // Whether processes may wait for each other in it, but the calls of the operation are not known.
  bool is_of_no_operation(const MpiCall& call, CallRole role) const;
  // The waits of such a call.
  std::vector<Awaited> awaited_alone(const WaitMaker& maker, CallIndex index, CallRole role) const;

  // `waiting` completed what `begun` began.
  void completed_by(CallIndex waiting, EntryOfCall begun);
  // The call that completed the operation begun by this one, itself if blocking; kNone: not known.
  CallIndex left_by(EntryOfCall begun) const;

 private:
  // A sequence of calls with the same order in all processes: collective operations of a
  // communicator, starts of a persistent one, creation of its windows and files, calls on one of
  // these, the end of MPI.
  enum class Scope : std::uint8_t { communicator, starts, windows, window, files, file, mpi };
  using Key = std::tuple<InstanceIndex, Scope, std::int32_t>;  // the last one: which of these
  using Sequences = std::map<ProcessIndex, std::vector<EntryOfCall>>;
  using Groups = std::map<Key, Sequences>;
  using Own = std::map<Key, std::vector<EntryOfCall>>;

  void add_calls(ProcessIndex process, RolesOfCalls& roles, Groups& groups);
  void add_starts(ProcessIndex process, RolesOfCalls& roles, Own& own);
  void lay_out(const Key& key, const Sequences& sequences, RolesOfCalls& roles);
  bool agree(const CollectiveOperation& operation) const;
  void add_operation(CollectiveOperation operation, bool starts);
  void finish(CollectiveOperation& operation) const;
  void note_times(CollectiveOperation& operation, std::size_t place) const;
  CallIndex late_for(const CollectiveOperation& operation, std::size_t place) const;
  std::vector<std::size_t> places_by_rank(const CollectiveOperation& operation) const;
  std::vector<CallIndex> late_of_scan(const CollectiveOperation& operation) const;
  bool never_waits(const CollectiveOperation& operation, std::size_t place) const;
  std::vector<CollectiveOperation::Comparable> across_clocks(
      const CollectiveOperation& operation) const;
  std::vector<Awaited> awaited_across_clocks(const WaitMaker& maker, WaitKind kind,
                                             CallIndex waiting,
                                             const CollectiveOperation& operation,
                                             std::size_t place) const;
  void find_waits_of(const WaitMaker& maker, const CollectiveOperation& operation,
                     std::vector<Wait>& rows) const;
  std::vector<Awaited> awaited_in(const WaitMaker& maker, WaitKind kind, CallIndex waiting,
                                  const CollectiveOperation& operation, std::size_t place,
                                  CallIndex late) const;
  std::optional<Awaited> may_have_waited(const WaitMaker& maker, WaitKind kind, CallIndex waiting,
                                         const CollectiveOperation& operation,
                                         std::size_t place) const;
  const CollectiveOperation* begun_by(const EntryOfCall& begun) const;
  InstanceIndex instance_of(const MpiCall& call) const;
  std::size_t processes_of(const MpiCall& call) const;
  std::uint8_t side_at(const CollectiveOperation& operation, std::size_t place) const;
  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  CallIndex later(CallIndex a, CallIndex b) const;
  InstanceIndex world_of(ProcessIndex process) const;

  const Job& job_;
  ProvenEntries proven_;
  std::vector<CollectiveOperation> operations_;
  std::unordered_map<EntryOfCall, std::size_t, HashOfEntry> begun_;  // operations
  std::set<ProcessIndex> unknown_starts_;  // processes that started unknown requests
};

}  // namespace uctrace::merge
