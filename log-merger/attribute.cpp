// Which UCP operation each UCT operation serves.
//
// In this order, each step using what the earlier ones found:
//   1. the UCP call, pending queue or completion that the shim saw it come from       exact
//   2. the first fragment of a send that UCP queued inside itself (wireup): its tag, length and
//      address are those of one send that has no fragment yet                         inferred
//   3. an active message handler: the arrival's header names the message it serves    exact
//   4. ids in the operation's own header: message id, request ids                     exact
//   5. the address range of a rendezvous that the peer announced                      inferred
// Operations that serve none have a reason, each with evidence; what is left is unattributed.
//
// A fragment that the receiver issues (rendezvous get, RTR, ATS) serves the sender's operation.
// Ids on the wire repeat over time, so every look-up takes the newest that is not later.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "event-log/ucp_wire.hpp"
#include "log-merger/id_table.hpp"
#include "log-merger/job.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

bool is(const UctOp& op, AmId id) { return op.am_id == static_cast<std::uint8_t>(id); }
bool is(const Arrival& arrival, AmId id) { return arrival.am_id == static_cast<std::uint8_t>(id); }

bool is_flush(const UctOp& op) {
  return op.op == log::UctOp::ep_flush || op.op == log::UctOp::ep_fence ||
         op.op == log::UctOp::iface_flush;
}

bool accepted(const UctOp& op) { return op.status >= 0; }

// A header that both sides saw: the k-th arrival at a process with it is the k-th post to that
// process with it. kNone: the sender's endpoint does not tell its peer.
using HeaderKey = std::tuple<Index, std::uint8_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t>;

HeaderKey key_of(Index destination, std::uint8_t am_id, const HeaderWords& h) {
  return {destination, am_id, h.words[0], h.words[1], h.words[2], h.words[3], h.words[4]};
}

// A buffer that a peer offered for a rendezvous, to be fetched or to be written:
// [address, address + length) until superseded.
struct Offer {
  std::int64_t since_ns;
  bool to_fetch;
  Index peer;
  std::uint64_t address, length;
  Index serves;
};

template <typename Event>
std::vector<Index> in_time_order(const std::vector<Event>& events) {
  std::vector<Index> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return events[static_cast<std::size_t>(a)].start_ns <
           events[static_cast<std::size_t>(b)].start_ns;
  });
  return order;
}

class Attributor {
 public:
  explicit Attributor(Job& job)
      : job_(job), offers_(job.logs.size()), first_done_(job.ucp.size()) {}

  void run() {
    give_reasons();
    by_origin();
    by_content();
    learn_posts();
    resolve_arrivals();
    by_arrival();
    by_header_ids();
    by_address();
  }

 private:
  UctOp& op(Index index) { return job_.uct[static_cast<std::size_t>(index)]; }
  const UcpOp& ucp(Index index) const { return job_.ucp[static_cast<std::size_t>(index)]; }

  template <typename Body>
  void each_open(Body body) {
    for (UctOp& op : job_.uct) {
      if (accepted(op) && op.link == Link::unattributed) {
        body(op);
      }
    }
  }

  void reason(UctOp& op, const char* why) {
    op.link = Link::reason;
    op.reason = why;
  }

  // The process at the other end of a send.
  Index receiver_of(const UcpOp& send) const {
    return send.partner != kNone ? ucp(send.partner).process : send.peer_process;
  }

  void attribute(UctOp& op, Index serves, Link link) {
    if (serves != kNone) {
      op.serves = serves;
      op.link = link;
    }
  }

  void give_reasons() {
    each_open([&](UctOp& op) {
      const Interface* interface =
          job_.logs[static_cast<std::size_t>(op.process)].interface(op.interface);
      if (interface != nullptr && !interface->of_ucp) {
        reason(op, "direct_uct");  // evidence: who opened the interface
      } else if (is(op, AmId::wireup)) {
        reason(op, "wireup");  // evidence: the AM id
      } else if (is_flush(op)) {
        reason(op, "internal_flush");  // evidence: no UCP flush is among the recorded calls
      }
    });
  }

  void by_origin() {
    each_open([&](UctOp& op) {
      if (op.origin_kind != log::Origin::ucp) {
        return;
      }
      const auto& ids = job_.logs[static_cast<std::size_t>(op.process)].ucp_by_id;
      if (const auto found = ids.find(op.origin); found != ids.end()) {
        attribute(op, found->second, Link::exact);
        mark_first(op);
      }
    });
  }

  static bool starts_send(const UctOp& op) {
    return is(op, AmId::eager_only) || is(op, AmId::eager_first) || is(op, AmId::eager_sync_only) ||
           is(op, AmId::eager_sync_first) || is(op, AmId::rndv_rts);
  }

  void mark_first(const UctOp& op) {
    if (starts_send(op)) {
      first_done_[static_cast<std::size_t>(op.serves)] = true;
    }
  }

  // Whether the header of a first fragment describes this send.
  static bool describes(const UctOp& op, const UcpOp& send) {
    const auto& words = op.header.words;
    if (op.header.count == 0 || words[0] != send.tag || send.start_ns > op.start_ns) {
      return false;
    }
    const bool length_known = (send.flags & log::UcpOperation::kUnknownLength) == 0;
    if (is(op, AmId::rndv_rts)) {
      return op.header.count == 5 && (!length_known || words[4] == send.bytes) &&
             (words[3] == send.buffer || words[3] == 0);
    }
    if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
      return !length_known || (op.header.count >= 2 && words[1] == send.bytes);
    }
    return !length_known || op.bytes - wire::shape_of(op.am_id).header_bytes == send.bytes;
  }

  void by_content() {
    struct Candidates {
      std::vector<Index> sends;
      std::size_t first = 0;  // those before have their first fragment
    };
    std::map<std::pair<Index, std::uint64_t>, Candidates> sends_by_tag;
    for (std::size_t i = 0; i < job_.ucp.size(); ++i) {
      const UcpOp& send = job_.ucp[i];
      if (send.is_send() && send.accepted() && !first_done_[i]) {
        sends_by_tag[{send.process, send.tag}].sends.push_back(static_cast<Index>(i));
      }
    }
    each_open([&](UctOp& op) {
      if (!starts_send(op) || op.header.count == 0) {
        return;
      }
      const auto found = sends_by_tag.find({op.process, op.header.words[0]});
      if (found == sends_by_tag.end()) {
        return;
      }
      auto& [sends, first] = found->second;
      while (first < sends.size() && first_done_[static_cast<std::size_t>(sends[first])]) {
        ++first;
      }
      for (std::size_t i = first; i < sends.size(); ++i) {
        if (!first_done_[static_cast<std::size_t>(sends[i])] && describes(op, ucp(sends[i]))) {
          attribute(op, sends[i], Link::inferred);
          mark_first(op);
          return;
        }
      }
    });
  }

  // The ids that first fragments put on the wire. In the order of time, not of recording threads: a
  // header may be the same again, when a buffer and a request are used again.
  void learn_posts() {
    for (const Index index : in_time_order(job_.uct)) {
      const UctOp& op = this->op(index);
      if (!accepted(op) || op.serves == kNone) {
        continue;
      }
      const auto& words = op.header.words;
      if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
        message_ids_.add({op.process}, words[2], op.start_ns, op.serves);
      }
      if (is(op, AmId::rndv_rts) && op.header.count == 5) {
        send_requests_.add({op.process}, words[2], op.start_ns, op.serves);
      }
      if (starts_send(op) && op.header.count >= 3 && !is(op, AmId::eager_first)) {
        posts_[key_of(ucp(op.serves).peer_process, op.am_id, op.header)].push_back(op.serves);
      }
    }
    message_ids_.seal();
    send_requests_.seal();
  }

  // What each arrival serves: for what its handler posts, and for the ids and buffers it announces.
  void resolve_arrivals() {
    arrival_serves_.assign(job_.arrivals.size(), kNone);
    std::map<HeaderKey, std::size_t> seen;
    for (const Index index : in_time_order(job_.arrivals)) {
      const auto i = static_cast<std::size_t>(index);
      const Arrival& arrival = job_.arrivals[i];
      if (is(arrival, AmId::rndv_rts) || is(arrival, AmId::eager_sync_only) ||
          is(arrival, AmId::eager_sync_first)) {
        arrival_serves_[i] = post_of(arrival, seen);
        learn_announcement(arrival, arrival_serves_[i]);
      } else if (is(arrival, AmId::rndv_rtr)) {
        arrival_serves_[i] =
            send_requests_.find({arrival.process}, arrival.header.words[0], arrival.start_ns);
        learn_offer(arrival, arrival_serves_[i]);
      }
    }
    for (auto& offers : offers_) {
      std::stable_sort(offers.begin(), offers.end(),
                       [](const Offer& a, const Offer& b) { return a.since_ns < b.since_ns; });
    }
    remote_requests_.seal();
    receive_requests_.seal();
  }

  Index post_of(const Arrival& arrival, std::map<HeaderKey, std::size_t>& seen) {
    HeaderKey key = key_of(arrival.process, arrival.am_id, arrival.header);
    auto posts = posts_.find(key);
    if (posts == posts_.end()) {
      key = key_of(kNone, arrival.am_id, arrival.header);
      posts = posts_.find(key);
    }
    if (posts == posts_.end()) {
      return kNone;
    }
    const std::size_t k = seen[key]++;
    return k < posts->second.size() ? posts->second[k] : posts->second.back();
  }

  void learn_announcement(const Arrival& arrival, Index serves) {
    if (serves == kNone) {
      return;
    }
    const auto& words = arrival.header.words;
    const IdScope scope{arrival.process, ucp(serves).process};
    if (is(arrival, AmId::rndv_rts)) {
      remote_requests_.add(scope, words[2], arrival.start_ns, serves);
      offers_[static_cast<std::size_t>(arrival.process)].push_back(
          {arrival.start_ns, true, scope.peer, words[3], words[4], serves});
    } else {
      // eager_sync_only: tag, ep_id, req_id; eager_sync_first: ... , ep_id, req_id
      remote_requests_.add(scope, words[is(arrival, AmId::eager_sync_only) ? 2 : 4],
                           arrival.start_ns, serves);
    }
  }

  void learn_offer(const Arrival& rtr, Index serves) {
    if (serves != kNone && rtr.header.count == 5) {
      const auto& words = rtr.header.words;
      const IdScope scope{rtr.process, receiver_of(ucp(serves))};
      receive_requests_.add(scope, words[1], rtr.start_ns, serves);
      offers_[static_cast<std::size_t>(rtr.process)].push_back(
          {rtr.start_ns, false, scope.peer, words[2], words[3], serves});
    }
  }

  void by_arrival() {
    each_open([&](UctOp& op) {
      if (op.origin_kind != log::Origin::arrival) {
        return;
      }
      const auto& ids = job_.logs[static_cast<std::size_t>(op.process)].arrival_by_id;
      const auto found = ids.find(op.origin);
      if (found == ids.end()) {
        return;
      }
      const Arrival& arrival = job_.arrivals[static_cast<std::size_t>(found->second)];
      attribute(op, arrival_serves_[static_cast<std::size_t>(found->second)], Link::exact);
      if (op.link == Link::unattributed && serves_remote_request(arrival)) {
        reason(op, "remote_request");  // evidence: the AM id that asked
      }
    });
  }

  static bool serves_remote_request(const Arrival& arrival) {
    return is(arrival, AmId::put) || is(arrival, AmId::get_request) ||
           is(arrival, AmId::atomic_request);
  }

  void by_header_ids() {
    each_open([&](UctOp& op) {
      const auto& words = op.header.words;
      if (op.header.count == 0) {
        return;
      }
      Index serves = kNone;
      if (is(op, AmId::eager_middle)) {
        serves = message_ids_.find({op.process}, words[0], op.start_ns);
      } else if (is(op, AmId::rndv_ats) || is(op, AmId::rndv_rtr) || is(op, AmId::eager_sync_ack)) {
        serves = remote_requests_.find({op.process, peer_of(job_, op)}, words[0], op.start_ns);
      } else if (is(op, AmId::rndv_data) || is(op, AmId::rndv_atp)) {
        serves = receive_requests_.find({op.process, peer_of(job_, op)}, words[0], op.start_ns);
      }
      attribute(op, serves, Link::exact);
    });
  }

  void by_address() {
    each_open([&](UctOp& op) {
      if (op.remote == 0 || !op.moves_memory()) {
        return;
      }
      const Index peer = peer_of(job_, op);
      const std::vector<Offer>& offers = offers_[static_cast<std::size_t>(op.process)];
      auto offer = std::upper_bound(offers.begin(), offers.end(), op.start_ns,
                                    [](std::int64_t t, const Offer& o) { return t < o.since_ns; });
      while (offer != offers.begin()) {
        --offer;
        const bool same_peer = peer == kNone || offer->peer == kNone || offer->peer == peer;
        if (same_peer && offer->to_fetch == op.fetches() && op.remote >= offer->address &&
            op.remote + op.bytes <= offer->address + offer->length) {
          attribute(op, offer->serves, Link::inferred);
          return;
        }
      }
    });
  }

  Job& job_;
  IdTable message_ids_;       // sender's message id
  IdTable send_requests_;     // sender's own request id, from its RTS
  IdTable remote_requests_;   // receiver: the sender's request id, from RTS and sync arrivals
  IdTable receive_requests_;  // sender: the receiver's request id, from RTR arrivals
  std::map<HeaderKey, std::vector<Index>> posts_;
  std::vector<std::vector<Offer>> offers_;  // by process
  std::vector<Index> arrival_serves_;
  std::vector<bool> first_done_;  // sends whose first fragment is known
};

}  // namespace

void attribute_transfers(Job& job) { Attributor(job).run(); }

}  // namespace uctrace::merge
