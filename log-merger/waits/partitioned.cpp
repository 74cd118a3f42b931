#include "log-merger/waits/partitioned.hpp"

#include <cstdint>
#include <unordered_map>

namespace uctrace::merge {

PartitionedMessages::PartitionedMessages(const Job& job) : job_(job) {
  for (const PartitionOperation& operation : job.run.partition_operations) {
    if (operation.complete_call >= 0) {
      completed_.emplace(CallIndex(operation.complete_call), &operation);
    }
  }
  std::unordered_map<CallIndex, std::int64_t> made_ready;  // operations by their MPI_Pready
  for (const PartitionEvent& event : job.run.partition_events) {
    if (event.kind == PartitionEventKind::pready && event.call >= 0 && event.operation >= 0) {
      made_ready.emplace(CallIndex(event.call), event.operation);
    }
  }
  if (made_ready.empty()) return;
  for (const UcpIndex index : job.ucp.indexes()) {
    const UcpOp& op = job.ucp[index];
    const auto asked = made_ready.find(op.asked_by);
    if (asked == made_ready.end() || !op.is_send()) continue;
    sent_.emplace(&job.run.partition_operations[static_cast<std::size_t>(asked->second)], index);
  }
}

UcpIndex PartitionedMessages::message_of(const PartitionOperation& send,
                                         ProcessIndex receiver) const {
  const auto [begin, end] = sent_.equal_range(&send);
  UcpIndex found;
  for (auto one = begin; one != end; ++one) {
    const UcpOp& op = job_.ucp[one->second];
    if (op.peer_process != receiver || op.message == kNone) continue;
    if (found != kNone) return {};
    found = one->second;
  }
  return found;
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
      Awaited one = maker.awaited(kKind, index, process_of(*send), CallIndex(send->ready_call),
                                  send->t_ready_ns);
      const UcpIndex sent = message_of(*send, process_of(receive));
      if (sent != kNone) {
        const UcpOp& op = job_.ucp[sent];
        one.wait.message = op.message.number();
        if (op.partner != kNone) one.done_ns = job_.ucp[op.partner].taken_ns();
      }
      awaited.push_back(one);
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
