// What a thread that sits in an MPI call waits for.
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

// One thing that has to happen.
struct OpenWait {
  const char* kind = "";  // message, receiver, collective, lock, target, finalize
  std::string text;       // "a message from rank 1 with tag 25 on MPI_COMM_WORLD"
  RankGroupRef of;        // by whom
  bool any = false;       // one of them is enough; else all
  bool never = false;     // it cannot happen: they are in another operation
  std::string unsure;     // why it need not be so, "" = it is
  CallIndex asked_by;     // the call that asked for it
  std::optional<WantedMessage> message;
};

struct Waiting {
  std::vector<OpenWait> waits;
  bool any = false;        // one of the waits is enough
  bool goes_on = false;    // nothing that is known holds it up, or what it waits for is on its way
  std::string on_its_way;  // what that is
  std::string unknown;     // why it is not known what it waits for
};

class WaitFinder {
 public:
  WaitFinder(const Job& job, const Sitters& sitters);

  Waiting find(const Sitter& sitter);

  const UnmatchedSends& unmatched() const { return unmatched_; }
  CollectiveCalls& collectives() { return collectives_; }
  const CommMembers& members() const { return members_; }

 private:
  struct Holder {
    ProcessIndex process;
    bool alone;  // its lock is exclusive
  };
  struct Operations {
    bool known = false;          // there is one at least
    std::vector<UcpIndex> open;  // receives and sends that have not ended
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
  void add_operations(CallIndex asked_by, Waiting& waiting);
  void add_receive(UcpIndex receive, Waiting& waiting);
  void add_send(UcpIndex send, Waiting& waiting);
  void add_message_call(CallIndex index, Waiting& waiting);
  void add_wanted(WantedMessage wanted, std::string unsure, Waiting& waiting);
  void add_collective(CallIndex index, Waiting& waiting);
  void add_window(CallIndex index, Waiting& waiting);
  void add_finalize(CallIndex index, Waiting& waiting);
  RankGroupRef not_in_finalize(Index of_world, const std::string& finalize) const;
  const std::vector<Holder>& holders(const MpiCall& waiting);

  const Job& job_;
  const Sitters& sitters_;
  CommMembers members_;
  CollectiveCalls collectives_;
  UnmatchedSends unmatched_;
  RequestUses uses_;
  std::unordered_map<CallIndex, Operations> operations_;  // by the call that asked
  std::unordered_map<ProcessIndex, RequestTable> requests_;
  std::unordered_map<ProcessIndex, bool> in_call_;
  std::map<Index, RankGroupRef> not_finalizing_;  // by world
  // By window, as its communicator and number, and target.
  std::map<std::tuple<InstanceIndex, std::int32_t, std::int32_t>, std::vector<Holder>> holders_;
};

}  // namespace uctrace::merge
