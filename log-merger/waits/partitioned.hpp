// Waits for partitioned messages. Private to the waits.
//
// A receive can be complete when the last partition of its send is ready, a send when its receive
// is started: Thaerigen, Hermanns, Geimer (SC-W 2023), section 4.1.1.
#pragma once

#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/wait_maker.hpp"

namespace uctrace::merge {

class PartitionedMessages {
 public:
  explicit PartitionedMessages(const Job& job);

  // The waits of a call that completed receives, or sends.
  std::vector<Awaited> late_senders(const WaitMaker& maker, CallIndex index) const;
  std::vector<Awaited> late_receivers(const WaitMaker& maker, CallIndex index) const;

 private:
  bool sends(const PartitionOperation& operation) const;
  const PartitionOperation* partner_of(const PartitionOperation& operation) const;
  ProcessIndex process_of(const PartitionOperation& operation) const;
  // The message that its MPI_Pready calls sent to the receiver; kNone unless it is exactly one.
  UcpIndex message_of(const PartitionOperation& send, ProcessIndex receiver) const;
  template <typename Visit>
  void completed_by(CallIndex index, bool sends, Visit visit) const;

  const Job& job_;
  // Operations by the calls that completed them.
  std::unordered_multimap<CallIndex, const PartitionOperation*> completed_;
  std::unordered_multimap<const PartitionOperation*, UcpIndex> sent_;  // by its calls of MPI_Pready
};

}  // namespace uctrace::merge
