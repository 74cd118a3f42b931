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

// The things that had to complete before one call returned.
struct Completed {
  std::vector<UcpIndex> messages;       // sends and receives of point-to-point calls
  std::vector<EntryOfCall> operations;  // the calls that began non-blocking collective operations
  bool all_known = true;                // all its requests are known
};

// Whether it is known which of its requests a call ended: all, or the recorded ones. A test of all
// records them only if it found all complete.
bool tells_what_ended(const Job& job, const MpiCall& call, const CallRequests& several);

// Of one process.
class CompletedMessages {
 public:
  CompletedMessages(const Job& job, ProcessIndex process, RolesOfCalls& roles);

  Completed of(CallIndex index);
  // Operations known to have been complete when a call tested them; all_known is true.
  Completed found_by_test(CallIndex index);
  // The only receive that the call requested, and the MPI_Mprobe that found its message; kNone: not
  // known.
  UcpIndex receive_of(CallIndex index) const;
  CallIndex probe_of(CallIndex index) const;

 private:
  // UCP operations requested by a point-to-point call or the start of a request.
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
