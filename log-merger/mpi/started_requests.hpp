// Which of the requests that a call starts an operation is for: MPI_Start names no communicator,
// peer or tag, the call that made the request does. Private to link_mpi().
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

  // The call that made the request of an operation in a call that starts some. Nothing: it is of
  // none of them. kNone: it is of one that was made where nothing was recorded.
  std::optional<CallIndex> maker_of_message(const UcpOp& op, const DecodedTag& tag);
  // `is_owned`: another call began with this context and tag.
  std::optional<CallIndex> maker_of_collective(const UcpOp& op, const DecodedTag& tag,
                                               bool is_owned);

  // Of an active message in a call that starts requests or readies partitions; kNone: not known.
  CallIndex maker_of_untagged(const UcpOp& op);

  // Partitions that were all ready before the receiver was leave in the handler that it calls, with
  // the library's header. What such an operation moves is told by its length: the call that readied
  // the last one, and the one that made the request.
  struct Readied {
    CallIndex ready = kNone, maker = kNone;
  };
  Readied readied_before(const UcpOp& op);

 private:
  struct Started {
    std::vector<CallIndex> makers;
    std::vector<bool> taken;
    bool complete = false;  // all of them are known
    bool readies = false;   // partitions, instead of starting
  };
  struct Partitioned {
    CallIndex maker;
    std::vector<CallIndex> starts, readies;  // by time
    std::uint64_t sent_tick = 0;             // of the data that went last
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
  // A persistent collective operation has the same tag whenever it is started.
  std::unordered_map<ScheduleKey, CallIndex, ScheduleHash> maker_of_key_;
  std::vector<Partitioned> partitioned_;  // sends
};

}  // namespace uctrace::merge
