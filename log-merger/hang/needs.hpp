// What a thread inside an MPI call waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "log-merger/hang/collective_calls.hpp"
#include "log-merger/hang/comm_members.hpp"
#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/unmatched_sends.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/mpi/request_table.hpp"

namespace uctrace::merge {

// One event that must happen.
struct OpenWait {
  const char* kind = "";  // message, receiver, partitions, collective, lock, target, finalize
  std::string text;       // "a message from rank 1 with tag 25 on MPI_COMM_WORLD"
  RankGroupRef of;        // by whom, but for `but`
  ProcessIndex but;       // the waiting process if it is one of them; else kNone
  bool any = false;       // one of them is enough; else all
  bool never = false;     // it cannot happen: they are in another operation
  std::string unsure;     // why this is uncertain, "" = it is certain
  CallIndex asked_by;     // the call that asked for it
  std::optional<WantedMessage> message;

  std::uint64_t count() const { return of->size() - (but != kNone ? 1 : 0); }
  bool is_for(ProcessIndex process) const { return process != but && of->contains(process); }
};

struct Waiting {
  std::vector<OpenWait> waits;
  bool any = false;        // one of the waits is enough
  bool goes_on = false;    // nothing known blocks it, or what it waits for is on its way
  std::string on_its_way;  // what that is
  std::string unknown;     // why its wait is not known
};

class NeedFinder {
 public:
  NeedFinder(const Job& job, const Sitters& sitters);

  Waiting find(const Sitter& sitter);

  const UnmatchedSends& unmatched() const { return unmatched_; }
  CollectiveCalls& collectives() { return collectives_; }
  CommMembers& members() { return members_; }

 private:
  struct Holder {
    ProcessIndex process;
    bool alone;  // its lock is exclusive
  };
  // By the window, as its communicator and number, and the target; -1: all targets.
  using LockKey = std::tuple<InstanceIndex, std::int32_t, std::int32_t>;
  struct NotFinalizing {
    RankGroupRef group;
    std::string unsure;
  };
  struct Operations {
    bool known = false;         // there is one at least
    std::vector<UcpIndex> all;  // receives and sends
  };

  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  const std::string& function(CallIndex index) const {
    return job_.run.texts[call(index).function];
  }
  std::string ranks(const RankGroup& group, bool any) const;
  const RequestTable& requests_of(ProcessIndex process);
  bool has_ucp(ProcessIndex process) const;

  void find_in_call(const Sitter& sitter, CallIndex index, Waiting& waiting);
  void add_requests(CallIndex index, Waiting& waiting);
  void add_request(CallIndex maker, CallIndex waits, Waiting& waiting);
  void add_operations(const std::vector<UcpIndex>& operations, Waiting& waiting);
  // The needs of a call for the request that `maker` made.
  std::vector<UcpIndex> operations_of(CallIndex asked_by, CallIndex maker);
  bool may_be_for_another(const std::vector<UcpIndex>& operations, CallIndex starter,
                          CallIndex maker) const;
  void add_partitioned(CallIndex maker, Waiting& waiting);
  void add_receive_of_partitions(const PartitionRequest& request, const PartitionOperation& use,
                                 Waiting& waiting);
  void add_send_of_partitions(const PartitionRequest& request, const PartitionOperation& use,
                              Waiting& waiting);
  void add_receive(UcpIndex receive, Waiting& waiting);
  void add_send(UcpIndex send, Waiting& waiting);
  void add_message_call(CallIndex index, Waiting& waiting);
  void add_wanted(WantedMessage wanted, std::string unsure, Waiting& waiting);
  void add_collective(CallIndex index, Waiting& waiting);
  void add_window(CallIndex index, Waiting& waiting);
  void add_exposure(CallIndex index, Waiting& waiting);
  void note_told(const UcpOp& op);
  CallIndex post_of(CallIndex win_wait) const;
  enum class Ended : std::uint8_t { no, maybe, since };  // an access epoch, at another process
  Ended has_ended(ProcessIndex origin, CallIndex post);
  void find_completes();
  void add_finalize(CallIndex index, Waiting& waiting);
  NotFinalizing not_in_finalize(Index of_world, const std::string& finalize) const;
  RankGroupRef holders(const MpiCall& waiting, bool shares, std::string& unsure);
  void find_holders();
  void find_holders(ProcessIndex process);
  // Why another thread of the process may satisfy the wait, "" = there is none.
  std::string other_threads(ProcessIndex process) const;

  const Job& job_;
  const Sitters& sitters_;
  CommMembers members_;
  CollectiveCalls collectives_;
  UnmatchedSends unmatched_;
  RequestUses uses_;
  std::unordered_map<CallIndex, Operations> operations_;  // by the call that asked
  std::unordered_map<ProcessIndex, RequestTable> requests_;
  std::unordered_map<ProcessIndex, bool> in_call_;
  std::map<Index, NotFinalizing> not_finalizing_;  // by world
  bool holders_known_ = false, completes_known_ = false;
  std::map<LockKey, std::vector<Holder>> holders_;
  // Calls of MPI_Win_complete that returned, by process and window.
  std::map<std::tuple<ProcessIndex, InstanceIndex, std::int32_t>, std::vector<CallIndex>>
      completes_;
  std::map<CallIndex, RankGroup> told_;  // origins, by the MPI_Win_post of the waiting process
  std::unordered_map<std::int64_t, std::size_t> partition_requests_,
      newest_uses_;  // by call; request
};

}  // namespace uctrace::merge
