// Waits for partitioned messages: a receive needs all partitions ready; a send needs its own ready
// and the receive started (docs/partitions.md).
#include <fmt/format.h>

#include "log-merger/hang/needs.hpp"
#include "log-merger/hang/rank_words.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

RankGroupRef group_of(ProcessIndex process) {
  auto group = std::make_shared<RankGroup>();
  group->processes.push_back(process);
  return group;
}

std::string of_message(const Job& job, const PartitionRequest& request) {
  const ProcessIndex process(request.process);
  const std::string comm = comm_name(job, process, job.calls[CallIndex(request.call)].comm);
  return fmt::format("of its message with tag {}{}", request.tag,
                     comm.empty() ? "" : " on " + comm);
}

std::string ready_words(const PartitionRequest& request, const PartitionOperation& use) {
  return fmt::format("{} of {} are", use.ready, request.partitions);
}

}  // namespace

void NeedFinder::add_partitioned(CallIndex maker, Waiting& waiting) {
  const auto request = partition_requests_.find(maker.number());
  const auto use = request == partition_requests_.end()
                       ? newest_uses_.end()
                       : newest_uses_.find(static_cast<std::int64_t>(request->second));
  if (use == newest_uses_.end()) {
    waiting.unknown = "of a partitioned message it is not known whether it was started";
    return;
  }
  const PartitionRequest& made = job_.run.partition_requests[request->second];
  const PartitionOperation& newest = job_.run.partition_operations[use->second];
  if (newest.complete_call >= 0) return;
  if (made.match != PartitionMatch::matched || made.partitions == 0) {
    waiting.unknown = "which partitioned message the other side has for its own is not known";
    return;
  }
  made.sends ? add_send_of_partitions(made, newest, waiting)
             : add_receive_of_partitions(made, newest, waiting);
}

void NeedFinder::add_receive_of_partitions(const PartitionRequest& request,
                                           const PartitionOperation& use, Waiting& waiting) {
  const Run& run = job_.run;
  const PartitionRequest& send = run.partition_requests[static_cast<std::size_t>(request.partner)];
  const ProcessIndex sender(send.process);
  OpenWait wait;
  if (use.partner < 0) {
    wait.text =
        fmt::format("{} to start the send {}", rank_words(job_, sender), of_message(job_, send));
  } else {
    const PartitionOperation& sent =
        run.partition_operations[static_cast<std::size_t>(use.partner)];
    if (sent.ready >= send.partitions) {
      waiting.on_its_way = "all partitions that it receives are ready, and on their way";
      return;
    }
    wait.text = fmt::format("{} to make all partitions ready {}: {}", rank_words(job_, sender),
                            of_message(job_, send), ready_words(send, sent));
  }
  wait.kind = "partitions";
  wait.of = group_of(sender);
  wait.asked_by = CallIndex(use.start_call);
  waiting.waits.push_back(std::move(wait));
}

// A library may hold a message back until the receive is started, or buffer it.
void NeedFinder::add_send_of_partitions(const PartitionRequest& request,
                                        const PartitionOperation& use, Waiting& waiting) {
  OpenWait wait;
  wait.kind = "partitions";
  wait.asked_by = CallIndex(use.start_call);
  const ProcessIndex own(request.process);
  if (use.ready < request.partitions) {
    wait.text = fmt::format("{} itself to make all partitions ready {}: {}", rank_words(job_, own),
                            of_message(job_, request), ready_words(request, use));
    wait.of = group_of(own);
    wait.unsure = why_incomplete(job_, own);
  } else if (use.partner < 0) {
    const PartitionRequest& receive =
        job_.run.partition_requests[static_cast<std::size_t>(request.partner)];
    const ProcessIndex receiver(receive.process);
    wait.text = fmt::format("{} to start the receive {}", rank_words(job_, receiver),
                            of_message(job_, receive));
    wait.of = group_of(receiver);
    wait.unsure = "its library may have room for the message";
  } else {
    waiting.on_its_way = "all partitions that it sends are ready, and the receive was started";
    return;
  }
  waiting.waits.push_back(std::move(wait));
}

}  // namespace uctrace::merge
