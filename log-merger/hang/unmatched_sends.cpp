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
}

// As UCP matches: the first send that fits the receive, in the order of their posting; sends of
// several processes in that of their times.
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
    for (const UcpIndex receive : receives) {
      const UcpOp& wanted = job_.ucp[receive];
      const auto send = std::find_if(sends.begin(), sends.end(), [&](UcpIndex one) {
        return ((job_.ucp[one].tag ^ wanted.tag) & wanted.tag_mask) == 0 &&
               !send_for_.contains(one);
      });
      if (send == sends.end()) continue;
      receive_of_[receive] = *send;
      send_for_[*send] = receive;
    }
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

// What is mistaken most easily comes first.
int distance(const Difference& differs) {
  return differs.tag ? 0 : differs.comm ? 1 : differs.destination ? 2 : 3;
}

}  // namespace

bool UnmatchedSends::would_find(const WantedMessage& wanted) const {
  const InstanceIndex comm = members_.instance(wanted.at, wanted.comm);
  return std::any_of(sent_.begin(), sent_.end(), [&](const SentMessage& sent) {
    return sent.by_program && respects(difference_of(sent, wanted, comm)) == 0;
  });
}

std::optional<NearestSend> UnmatchedSends::nearest(const WantedMessage& wanted) const {
  const InstanceIndex comm = members_.instance(wanted.at, wanted.comm);
  std::optional<NearestSend> nearest;
  for (const SentMessage& sent : sent_) {
    if (!sent.by_program || send_for_.contains(sent.op)) continue;
    const Difference differs = difference_of(sent, wanted, comm);
    if (respects(differs) != 1) continue;
    const bool is_nearer = !nearest || distance(differs) < distance(nearest->differs) ||
                           (distance(differs) == distance(nearest->differs) &&
                            job_.ucp[sent.op].start_ns >= job_.ucp[nearest->send].start_ns);
    if (is_nearer) nearest = NearestSend{sent.op, differs};
  }
  return nearest;
}

}  // namespace uctrace::merge
