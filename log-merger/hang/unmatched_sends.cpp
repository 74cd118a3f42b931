#include "log-merger/hang/unmatched_sends.hpp"

#include <algorithm>

#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

UnmatchedSends::UnmatchedSends(const Job& job, const CommMembers& members)
    : job_(job), members_(members) {
  for (const UcpIndex index : job.ucp.indexes()) {
    const UcpOp& op = job.ucp[index];
    if (!op.is(log::UcpFamily::tag_send) || !op.accepted() || op.failed() || op.tool ||
        op.partner != kNone) {
      continue;
    }
    const auto tag = decode_tag(job.logs[op.process].flavour, op.tag);
    place_of_[index] = sent_.size();
    sent_.push_back({index, op.process, op.peer_process, members.instance(op.process, op.comm),
                     tag ? tag->tag : 0, tag && !tag->collective});
  }
  pair_with_open_receives();
  make_lists();
}

// Matches as UCP does: the first send that fits the receive, in posting order; sends of several
// processes in the order of their times.
void UnmatchedSends::pair_with_open_receives() {
  if (sent_.empty()) return;
  std::unordered_map<ProcessIndex, std::vector<UcpIndex>> sends_to, receives_at;
  for (const SentMessage& message : sent_) sends_to[message.to].push_back(message.op);
  for (const UcpIndex index : job_.ucp.indexes()) {
    const UcpOp& op = job_.ucp[index];
    if (op.is(log::UcpFamily::tag_receive) && op.accepted() && !op.ended && !op.tool &&
        sends_to.contains(op.process)) {
      receives_at[op.process].push_back(index);
    }
  }
  for (auto& [process, receives] : receives_at) {
    std::vector<UcpIndex>& sends = sends_to[process];
    std::stable_sort(sends.begin(), sends.end(), [&](UcpIndex a, UcpIndex b) {
      return job_.ucp[a].start_ns < job_.ucp[b].start_ns;
    });
    std::stable_sort(receives.begin(), receives.end(), [&](UcpIndex a, UcpIndex b) {
      return job_.ucp[a].posted_tick < job_.ucp[b].posted_tick;
    });
    pair(sends, receives);
  }
}

namespace {

// The sends whose tags are equal under a mask, in order.
class SendsByTag {
 public:
  SendsByTag(const Job& job, const std::vector<UcpIndex>& sends, std::uint64_t mask) : mask_(mask) {
    for (const UcpIndex send : sends) queues_[job.ucp[send].tag & mask].sends.push_back(send);
  }

  // The first that nobody took; kNone: there is none.
  UcpIndex first(std::uint64_t tag, const std::unordered_map<UcpIndex, UcpIndex>& taken) {
    const auto found = queues_.find(tag & mask_);
    if (found == queues_.end()) return kNone;
    Queue& queue = found->second;
    while (queue.next < queue.sends.size() && taken.contains(queue.sends[queue.next])) ++queue.next;
    return queue.next < queue.sends.size() ? queue.sends[queue.next] : UcpIndex();
  }

 private:
  struct Queue {
    std::vector<UcpIndex> sends;
    std::size_t next = 0;
  };
  std::uint64_t mask_;
  std::unordered_map<std::uint64_t, Queue> queues_;
};

}  // namespace

void UnmatchedSends::pair(const std::vector<UcpIndex>& sends,
                          const std::vector<UcpIndex>& receives) {
  std::map<std::uint64_t, SendsByTag> by_mask;  // a program uses only a few
  for (const UcpIndex receive : receives) {
    const UcpOp& wanted = job_.ucp[receive];
    const std::uint64_t mask = wanted.tag_mask;
    const auto queues = by_mask.try_emplace(mask, job_, sends, mask).first;
    const UcpIndex send = queues->second.first(wanted.tag, send_for_);
    if (send == kNone) continue;
    receive_of_[receive] = send;
    send_for_[send] = receive;
  }
}

void UnmatchedSends::make_lists() {
  Newest order;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].by_program) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t a_ns = job_.ucp[sent_[a].op].start_ns, b_ns = job_.ucp[sent_[b].op].start_ns;
    return a_ns != b_ns ? a_ns > b_ns : a > b;
  });
  for (const std::size_t i : order) {
    const SentMessage& sent = sent_[i];
    to_[sent.to].push_back(i);
    if (send_for_.contains(sent.op)) continue;
    from_[sent.from].push_back(i);
    by_tag_[{sent.comm, sent.tag}].push_back(i);
    by_comm_[sent.comm].push_back(i);
  }
}

UcpIndex UnmatchedSends::receive_for(UcpIndex send) const {
  const auto found = send_for_.find(send);
  return found == send_for_.end() ? UcpIndex() : found->second;
}

const SentMessage* UnmatchedSends::message_of(UcpIndex send) const {
  const auto found = place_of_.find(send);
  return found == place_of_.end() ? nullptr : &sent_[found->second];
}

namespace {

Difference difference_of(const SentMessage& sent, const WantedMessage& wanted, InstanceIndex comm) {
  const std::vector<ProcessIndex>& sources = wanted.sources->processes;
  return {.source = !std::binary_search(sources.begin(), sources.end(), sent.from),
          .destination = sent.to != wanted.at,
          .tag = wanted.tag != log::MpiCall::kAny && sent.tag != wanted.tag,
          .comm = sent.comm != comm};
}

int respects(const Difference& differs) {
  return differs.source + differs.destination + differs.tag + differs.comm;
}

template <typename Lists, typename Key>
const auto& list_of(const Lists& lists, Key key) {
  static const typename Lists::mapped_type kEmpty;
  const auto found = lists.find(key);
  return found == lists.end() ? kEmpty : found->second;
}

}  // namespace

bool UnmatchedSends::would_find(const WantedMessage& wanted) const {
  const InstanceIndex comm = members_.instance(wanted.at, wanted.comm);
  const Newest& sent = list_of(to_, wanted.at);
  return std::any_of(sent.begin(), sent.end(), [&](std::size_t i) {
    return respects(difference_of(sent_[i], wanted, comm)) == 0;
  });
}

UcpIndex UnmatchedSends::newest_with(const Newest& list, const WantedMessage& wanted,
                                     bool Difference::*respect) const {
  const InstanceIndex comm = members_.instance(wanted.at, wanted.comm);
  for (const std::size_t i : list) {
    const Difference differs = difference_of(sent_[i], wanted, comm);
    const bool only = differs.*respect && respects(differs) == 1;
    if (only && !send_for_.contains(sent_[i].op)) return sent_[i].op;
  }
  return kNone;
}

// The most likely mistake comes first. For each property the list is short, or a match is found
// soon.
std::optional<NearestSend> UnmatchedSends::nearest(const WantedMessage& wanted) const {
  const InstanceIndex comm = members_.instance(wanted.at, wanted.comm);
  const Newest& to = list_of(to_, wanted.at);
  const bool from_one = wanted.sources->processes.size() == 1;
  const Newest& elsewhere = from_one ? list_of(from_, wanted.sources->processes.front())
                            : wanted.tag == log::MpiCall::kAny
                                ? list_of(by_comm_, comm)
                                : list_of(by_tag_, std::pair(comm, wanted.tag));
  const std::pair<const Newest*, bool Difference::*> by_respect[] = {
      {&to, &Difference::tag},
      {&to, &Difference::comm},
      {&elsewhere, &Difference::destination},
      {&to, &Difference::source}};
  for (const auto& [list, respect] : by_respect) {
    const UcpIndex send = newest_with(*list, wanted, respect);
    if (send == kNone) continue;
    Difference differs;
    differs.*respect = true;
    return NearestSend{send, differs};
  }
  return std::nullopt;
}

}  // namespace uctrace::merge
