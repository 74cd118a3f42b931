#include "log-merger/waits/meetings.hpp"

#include <algorithm>

namespace uctrace::merge {

namespace {

// How many operations to search for one that had ended at both.
constexpr std::size_t kEarlier = 64;

}  // namespace

Meetings::Meetings(const Job& job, const Collectives& collectives,
                   const std::vector<std::vector<ReceivedMessage>>& received)
    : job_(job), operations_(job.logs.size()), began_ns_(job.logs.size()) {
  for (const RankTime& rank : job.run.rank_times) began_ns_[rank.process] = rank.t_begin_ns;
  for (const auto& of_process : received) {
    for (const ReceivedMessage& message : of_process) {
      const bool forward = message.source < message.destination;
      const Pair pair = forward ? Pair(message.source, message.destination)
                                : Pair(message.destination, message.source);
      messages_[pair].meetings.push_back(forward ? Meeting{message.sent_ns, message.received_ns}
                                                 : Meeting{message.received_ns, message.sent_ns});
    }
  }
  for (auto& [pair, messages] : messages_) lay_out(messages);
  for (const CollectiveOperation& operation : collectives.operations()) {
    if (!operation.complete) continue;
    for (const CallIndex index : operation.left_by) {
      if (index == kNone) continue;
      const MpiCall& call = job.calls[index];
      operations_[call.process.place()].push_back({call.end_ns, &operation});
    }
  }
  for (auto& of_process : operations_) {
    std::sort(of_process.begin(), of_process.end(),
              [](const LeftOperation& a, const LeftOperation& b) { return a.left_ns < b.left_ns; });
  }
}

void Meetings::lay_out(MessagesOfPair& messages) {
  std::vector<Meeting>& all = messages.meetings;
  std::sort(all.begin(), all.end(),
            [](const Meeting& a, const Meeting& b) { return a.own_ns < b.own_ns; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t before = i;
    while (before > 0 && all[before - 1].other_ns >= all[i].other_ns) {
      before = messages.earlier[before - 1];
    }
    messages.earlier.push_back(before);
  }
}

// A message that `own` sent just before its wait is received only when the other process gets to
// it: perhaps long after it was late.
std::optional<Meeting> Meetings::last_message(ProcessIndex own, ProcessIndex other,
                                              Until until) const {
  const bool first = own < other;
  const auto found = messages_.find(first ? Pair(own, other) : Pair(other, own));
  if (found == messages_.end()) return std::nullopt;
  const auto& [meetings, earlier] = found->second;
  const std::int64_t of_first_ns = first ? until.own_ns : until.other_ns - 1;
  const std::int64_t of_second_ns = first ? until.other_ns - 1 : until.own_ns;
  const auto end = std::partition_point(meetings.begin(), meetings.end(),
                                        [&](const Meeting& m) { return m.own_ns <= of_first_ns; });
  for (auto at = static_cast<std::size_t>(end - meetings.begin()); at > 0; at = earlier[at - 1]) {
    const Meeting& meeting = meetings[at - 1];
    if (meeting.other_ns > of_second_ns) continue;
    return first ? meeting : Meeting{meeting.other_ns, meeting.own_ns};
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
    const CallIndex of_other = at->operation->left_by_process(job_, other);
    if (of_other != kNone && job_.calls[of_other].end_ns < until.other_ns) {
      return Meeting{at->left_ns, job_.calls[of_other].end_ns};
    }
  }
  return std::nullopt;
}

Meeting Meetings::last(ProcessIndex own, ProcessIndex other, Until until) const {
  Meeting last{began_ns_[own.place()], began_ns_[other.place()]};
  for (const auto& meeting : {last_message(own, other, until), last_operation(own, other, until)}) {
    if (meeting && meeting->own_ns > last.own_ns) last = *meeting;
  }
  return last;
}

}  // namespace uctrace::merge
