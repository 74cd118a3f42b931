// Which calls of the processes of a communicator, or of a window, are one operation, and who waited
// for whom in it. Private to the waits.
//
// All processes make the collective calls of a communicator in one order, so the k-th call of each
// is the k-th operation. That needs all calls of all of them: where something was not recorded, was
// dropped, or the functions do not agree, nothing is claimed from there on.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/wait_maker.hpp"

namespace uctrace::merge {

// One operation: a call of each process that is in it.
struct CollectiveOperation {
  CallRole role = CallRole::other;
  bool begins = false;           // other calls complete it
  bool complete = true;          // every process of it has a call that is over or needs not be
  std::vector<CallIndex> calls;  // by process
  // The calls that these processes left it by: the same, or those that complete what these begin;
  // kNone = not known.
  std::vector<CallIndex> left_by;
  // Who entered last, and who left first; only where it is complete.
  CallIndex last, first_left;
  CallIndex root;  // of one from or to a root

  // Of `left_by`; kNone where the process is not in it.
  CallIndex left_by_process(const Job& job, ProcessIndex process) const;
};

class Collectives {
 public:
  Collectives(const Job& job, RolesOfCalls& roles);

  const std::vector<CollectiveOperation>& operations() const { return operations_; }

  // Waits in the calls themselves.
  void find_waits(const WaitMaker& maker, std::vector<Wait>& rows) const;

  // What `waiting`, which completes the non-blocking operation that `begun` began, waits for:
  // nothing where no rule says so.
  std::vector<Awaited> awaited(const WaitMaker& maker, CallIndex waiting, CallIndex begun) const;

  // Whether processes may wait for each other in it by no rule that is known here: what is done
  // depends on counts, on the other side of an intercommunicator, or on the library.
  bool has_no_rule(const MpiCall& call, CallRole role) const;

  // `waiting` completed what `begun` began.
  void completed_by(CallIndex waiting, CallIndex begun);

 private:
  // What is called in one order: collective operations of a communicator, windows made of it, what
  // is called on one of these, the end of MPI.
  enum class Scope : std::uint8_t { communicator, windows, window, mpi };
  using Key = std::tuple<InstanceIndex, Scope, std::int32_t>;  // the last one: which window
  using Sequences = std::map<ProcessIndex, std::vector<CallIndex>>;

  void add_calls(ProcessIndex process, RolesOfCalls& roles, std::map<Key, Sequences>& groups);
  void lay_out(const Sequences& sequences, std::size_t members, RolesOfCalls& roles);
  void finish(CollectiveOperation& operation) const;
  CallIndex late_for(const CollectiveOperation& operation, CallIndex of_process) const;
  std::unordered_map<CallIndex, CallIndex> late_of_scan(const CollectiveOperation& operation) const;
  bool never_waits(const CollectiveOperation& operation, CallIndex index) const;
  std::size_t processes_of(const MpiCall& call) const;
  void find_waits_of(const WaitMaker& maker, const CollectiveOperation& operation,
                     std::vector<Wait>& rows) const;
  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  std::uint32_t rank_in_comm(CallIndex index) const;
  InstanceIndex world_of(ProcessIndex process) const;

  const Job& job_;
  std::vector<CollectiveOperation> operations_;
  std::unordered_map<CallIndex, std::size_t> begun_;  // operations by the calls that begin them
};

}  // namespace uctrace::merge
