// Which messages and operations a call waited for. Private to the waits.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/request_table.hpp"
#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/collectives.hpp"

namespace uctrace::merge {

// What one call returned only after.
struct Completed {
  std::vector<UcpIndex> messages;       // sends and receives of point-to-point calls
  std::vector<EntryOfCall> operations;  // what began non-blocking collective operations
  bool all_known = true;                // no request of which it is not known what it was
};

// Whether it is known which of its several requests a call ended: all, or those that it was told. A
// test of all has them in the log only where it found that all are over.
bool tells_what_ended(const Job& job, const MpiCall& call, const CallRequests& several);

// Of one process.
class CompletedMessages {
 public:
  CompletedMessages(const Job& job, ProcessIndex process, RolesOfCalls& roles);

  Completed of(CallIndex index);
  // What is known to have been complete when a call tested it; all_known is true.
  Completed found_by_test(CallIndex index);
  // The only receive that the call asked for, and the MPI_Mprobe that found the message which it is
  // given; kNone: not known.
  UcpIndex receive_of(CallIndex index) const;
  CallIndex probe_of(CallIndex index) const;

 private:
  // UCP operations that a point-to-point call, or the start of a request, asked for.
  std::pair<std::size_t, std::size_t> asked_by(CallIndex index) const;
  void add_messages(CallIndex asked, CallIndex maker, Completed& completed);
  void add_request(CallIndex maker, CallIndex waiting, Completed& completed);
  const CallTraits& traits(CallIndex index);

  const Job& job_;
  const ProcessLog& log_;
  RolesOfCalls& roles_;
  RequestUses uses_;
  RequestTable requests_;
  std::vector<std::pair<CallIndex, UcpIndex>> asked_;  // sorted
  std::unordered_map<TextId, CallTraits> traits_;
};

}  // namespace uctrace::merge
