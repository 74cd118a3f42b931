// Which of a call's started requests an operation belongs to: MPI_Start has no communicator, peer
// or tag, but the call that made the request does. Private to link_mpi().
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "log-merger/mpi/mpi_contexts.hpp"
#include "log-merger/mpi/mpi_link_parts.hpp"

namespace uctrace::merge {

class StartedRequests {
 public:
  StartedRequests(const Job& job, const ProcessLog& log, TraitsOfCalls& traits,
                  const Contexts& contexts);

  // The call that made the request of an operation, inside a call that starts some. Nothing: it
  // belongs to none of them. kNone: its request was made outside the windows.
  std::optional<CallIndex> maker_of_message(const UcpOp& op, const DecodedTag& tag);
  // `is_owned`: another call first used this context and tag.
  std::optional<CallIndex> maker_of_collective(const UcpOp& op, const DecodedTag& tag,
                                               bool is_owned);

  // For an active message in a call that starts requests or makes partitions ready; kNone: not
  // known.
  CallIndex maker_of_untagged(const UcpOp& op);

  // If all partitions were ready before the receiver, they are sent in the handler of the
  // receiver's message, with the library's header. The length of such an operation identifies the
  // call that made the last partition ready, and the one that made the request.
  struct Readied {
    CallIndex ready = kNone, maker = kNone;
  };
  Readied readied_before(const UcpOp& op);

 private:
  struct Started {
    std::vector<CallIndex> makers;
    std::vector<bool> taken;
    bool complete = false;  // all of them are known
    bool readies = false;   // makes partitions ready instead of starting
  };
  struct Partitioned {
    CallIndex maker;
    std::vector<CallIndex> starts, readies;  // by time
    std::uint64_t sent_tick = 0;             // when data was last sent
  };

  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  Started& started_by(CallIndex call);
  void find_partitioned();
  CallIndex last_before(const std::vector<CallIndex>& calls, std::uint64_t tick) const;

  const Job& job_;
  const ProcessLog& log_;
  TraitsOfCalls& traits_;
  const Contexts& contexts_;
  std::unordered_map<CallIndex, Started> started_;
  // A persistent collective operation has the same tag at each start.
  std::unordered_map<ScheduleKey, CallIndex, ScheduleHash> maker_of_key_;
  std::vector<Partitioned> partitioned_;  // sends
};

}  // namespace uctrace::merge
