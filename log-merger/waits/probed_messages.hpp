// Which receive took the message that a probe found. Private to the waits.
//
// The receive of a message that MPI_Mprobe found is given its handle. MPI_Probe leaves the message
// where it is. Messages of one sender and tag are received in their order (MPI 4.0, section 3.5),
// so the next receive that names the same source and tag takes what it found, unless one that names
// them by a wildcard may have. What a probe found of any source, or with any tag, is not recorded;
// nor is it known where another thread may have received in between.
#pragma once

#include <unordered_map>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/completed_messages.hpp"

namespace uctrace::merge {

class ProbedMessages {
 public:
  // Of one process.
  ProbedMessages(const Job& job, ProcessIndex process, CompletedMessages& completed);

  // The receive; kNone: not known.
  UcpIndex found_by(CallIndex probe) const;

 private:
  std::unordered_map<CallIndex, UcpIndex> receives_;  // by the probe
};

}  // namespace uctrace::merge
