// The receive that took the message found by a probe. Private to the waits.
//
// A message found by MPI_Mprobe has a handle, which is passed to its receive. MPI_Probe leaves the
// message in the queue. Messages of one sender and tag are received in order (MPI 4.0, section
// 3.5), so the next receive that names the same source and tag takes it, unless a receive with
// wildcards may have. The source or tag that a probe with wildcards found is not recorded; nor is
// it known whether another thread received in between.
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
