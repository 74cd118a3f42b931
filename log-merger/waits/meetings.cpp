#include "log-merger/waits/meetings.hpp"

#include <algorithm>

namespace uctrace::merge {

namespace {

// Messages, and operations, that are looked through for one that was over at both.
constexpr std::size_t kEarlier = 64;

}  // namespace

Meetings::Meetings(const Job& job, const Collectives& collectives,
                   const std::vector<std::vector<ReceivedMessage>>& received)
    : job_(job), operations_(job.logs.size()) {
  for (const auto& of_process : received) {
    for (const ReceivedMessage& message : of_process) {
      const bool forward = message.source < message.destination;
      const Pair pair = forward ? Pair(message.source, message.destination)
                                : Pair(message.destination, message.source);
      messages_[pair].push_back(forward ? Meeting{message.sent_ns, message.received_ns}
                                        : Meeting{message.received_ns, message.sent_ns});
    }
  }
  for (auto& [pair, meetings] : messages_) {
    std::sort(meetings.begin(), meetings.end(),
              [](const Meeting& a, const Meeting& b) { return a.own_ns < b.own_ns; });
  }
  for (const CollectiveOperation& operation : collectives.operations()) {
    if (!operation.complete || operation.begins) continue;
    for (const CallIndex index : operation.calls) {
      const MpiCall& call = job.calls[index];
      operations_[call.process.place()].push_back({call.end_ns, &operation});
    }
  }
  for (auto& of_process : operations_) {
    std::sort(of_process.begin(), of_process.end(),
              [](const LeftOperation& a, const LeftOperation& b) { return a.left_ns < b.left_ns; });
  }
}

// What `own` sent just before it waited reaches the other one when that comes to receive it:
// perhaps long after it was late.
std::optional<Meeting> Meetings::last_message(ProcessIndex own, ProcessIndex other,
                                              Until until) const {
  const bool first = own < other;
  const auto found = messages_.find(first ? Pair(own, other) : Pair(other, own));
  if (found == messages_.end()) return std::nullopt;
  const auto& meetings = found->second;
  auto at = std::partition_point(meetings.begin(), meetings.end(), [&](const Meeting& m) {
    return m.own_ns <= (first ? until.own_ns : until.other_ns);
  });
  for (std::size_t looked = 0; at != meetings.begin() && looked < kEarlier; ++looked) {
    --at;
    const Meeting meeting = first ? *at : Meeting{at->other_ns, at->own_ns};
    if (meeting.own_ns <= until.own_ns && meeting.other_ns < until.other_ns) return meeting;
  }
  return std::nullopt;
}

std::optional<Meeting> Meetings::last_operation(ProcessIndex own, ProcessIndex other,
                                                Until until) const {
  const auto& left = operations_[own.place()];
  auto at = std::partition_point(left.begin(), left.end(),
                                 [&](const LeftOperation& o) { return o.left_ns <= until.own_ns; });
  for (std::size_t looked = 0; at != left.begin() && looked < kEarlier; ++looked) {
    --at;
    for (const CallIndex index : at->operation->calls) {
      const MpiCall& call = job_.calls[index];
      if (call.process == other && call.end_ns < until.other_ns) {
        return Meeting{at->left_ns, call.end_ns};
      }
    }
  }
  return std::nullopt;
}

std::optional<Meeting> Meetings::last(ProcessIndex own, ProcessIndex other, Until until) const {
  const auto message = last_message(own, other, until);
  const auto operation = last_operation(own, other, until);
  if (!message || !operation) return message ? message : operation;
  return message->own_ns > operation->own_ns ? message : operation;
}

}  // namespace uctrace::merge
