#include "log-merger/waits/partitioned.hpp"

namespace uctrace::merge {

PartitionedMessages::PartitionedMessages(const Job& job) : job_(job) {
  for (const PartitionOperation& operation : job.run.partition_operations) {
    if (operation.complete_call >= 0) {
      completed_.emplace(CallIndex(operation.complete_call), &operation);
    }
  }
}

bool PartitionedMessages::sends(const PartitionOperation& operation) const {
  return job_.run.partition_requests[static_cast<std::size_t>(operation.request)].sends;
}

const PartitionOperation* PartitionedMessages::partner_of(
    const PartitionOperation& operation) const {
  if (operation.partner < 0) return nullptr;
  return &job_.run.partition_operations[static_cast<std::size_t>(operation.partner)];
}

ProcessIndex PartitionedMessages::process_of(const PartitionOperation& operation) const {
  return ProcessIndex(
      job_.run.partition_requests[static_cast<std::size_t>(operation.request)].process);
}

template <typename Visit>
void PartitionedMessages::completed_by(CallIndex index, bool sends, Visit visit) const {
  const auto [begin, end] = completed_.equal_range(index);
  for (auto one = begin; one != end; ++one) {
    if (this->sends(*one->second) == sends) visit(*one->second);
  }
}

std::vector<Awaited> PartitionedMessages::late_senders(const WaitMaker& maker,
                                                       CallIndex index) const {
  constexpr WaitKind kKind = WaitKind::partitioned_late_sender;
  std::vector<Awaited> awaited;
  completed_by(index, false, [&](const PartitionOperation& receive) {
    const PartitionOperation* const send = partner_of(receive);
    if (send == nullptr || send->t_ready_ns < 0) {
      awaited.push_back(maker.unknown(kKind, index, WaitUnknown::partner));
    } else if (process_of(*send) != process_of(receive)) {
      awaited.push_back(maker.awaited(kKind, index, process_of(*send), CallIndex(send->ready_call),
                                      send->t_ready_ns));
    }
  });
  return awaited;
}

std::vector<Awaited> PartitionedMessages::late_receivers(const WaitMaker& maker,
                                                         CallIndex index) const {
  std::vector<Awaited> awaited;
  completed_by(index, true, [&](const PartitionOperation& send) {
    const PartitionOperation* const receive = partner_of(send);
    if (receive == nullptr) {
      awaited.push_back(
          maker.unknown(WaitKind::partitioned_late_receiver, index, WaitUnknown::partner));
      return;
    }
    if (process_of(*receive) == process_of(send)) return;
    const Awaited one =
        maker.awaited(WaitKind::partitioned_late_receiver, index, process_of(*receive),
                      CallIndex(receive->start_call), receive->t_start_ns);
    // A send that was complete before its receive was started did not wait for it.
    if (send.t_complete_ns + one.margin_ns >= receive->t_start_ns) awaited.push_back(one);
  });
  return awaited;
}

}  // namespace uctrace::merge
