// Which UCP operation each UCT operation serves.
//
// In this order, each step using what the earlier ones found:
//   1. the UCP call, pending queue or completion that the shim saw it come from       exact
//   2. what UCP queued inside itself (wireup): the header or address is that of one operation that
//      has no fragment yet (log-merger/queued.cpp); a flush: the one in progress      inferred
//   3. an active message handler: the arrival's header names the message it serves    exact
//   4. ids in the operation's own header: message id, request ids                     exact
//   5. the address range of a rendezvous that the peer announced                      inferred
// What was posted inside another operation, to stage its data, serves what that one serves.
// Operations that serve none have a reason, each with evidence; what is left is unattributed.
//
// A fragment that the receiver issues (rendezvous get, RTR, ATS) serves the sender's operation, and
// what answers a put, get or atomic request that needs the target's CPU serves its initiator's.
// Ids on the wire repeat over time, so every look-up takes the newest that is not later.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "log-merger/id_table.hpp"
#include "log-merger/job.hpp"
#include "log-merger/offers.hpp"
#include "log-merger/queued.hpp"
#include "log-merger/wire_view.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// A header that both sides saw: the k-th arrival at a process with it is the k-th post to that
// process with it. kNone: the sender's endpoint does not tell its peer.
using HeaderKey = std::tuple<Index, std::uint8_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t>;

HeaderKey key_of(Index destination, std::uint8_t am_id, const HeaderWords& h) {
  return {destination, am_id, h.words[0], h.words[1], h.words[2], h.words[3], h.words[4]};
}

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

constexpr std::uint64_t kFlushCancels = 1;  // UCT_FLUSH_FLAG_CANCEL

class Attributor {
 public:
  explicit Attributor(Job& job) : job_(job), started_(job.ucp.size()) {}

  void run() {
    find_device_copies();
    give_reasons();
    by_origin();
    give_discards();
    attribute_flushes(job_);
    attribute_queued(job_, started_);
    learn_posts();
    resolve_arrivals();
    by_arrival();
    by_delivered_arrival();
    by_header_ids();
    by_address();
    give_last_reasons();
    by_parent();
    find_copies();
  }

 private:
  UctOp& op(Index index) { return job_.uct[static_cast<std::size_t>(index)]; }
  const UcpOp& ucp(Index index) const { return job_.ucp[static_cast<std::size_t>(index)]; }

  template <typename Body>
  void each_open(Body body) {
    for (UctOp& op : job_.uct) {
      if (accepted(op) && op.link == Link::unattributed && op.parent_id == 0) {
        body(op);
      }
    }
  }

  void reason(UctOp& op, const char* why) {
    op.link = Link::reason;
    op.reason = why;
  }

  // The process at the other end.
  Index receiver_of(const UcpOp& send) const {
    return send.partner != kNone ? ucp(send.partner).process : send.peer_process;
  }

  void attribute(UctOp& op, Index serves, Link link) {
    if (serves != kNone) {
      op.serves = serves;
      op.link = link;
    }
  }

  // Between the memories of one process, as from a GPU to host memory: done by UCP for what it
  // sends or has received, even where that is no part of another operation.
  void find_device_copies() {
    for (UctOp& op : job_.uct) {
      const Interface* interface =
          job_.logs[static_cast<std::size_t>(op.process)].interface(op.interface);
      op.staging = op.staging || (interface != nullptr && interface->of_ucp && op.moves_memory() &&
                                  interface->device_type == log::DeviceType::accelerator &&
                                  peer_of(job_, op) == op.process);
    }
  }

  void give_reasons() {
    each_open([&](UctOp& op) {
      const Interface* interface =
          job_.logs[static_cast<std::size_t>(op.process)].interface(op.interface);
      if (interface != nullptr && !interface->of_ucp) {
        reason(op, "direct_uct");  // evidence: who opened the interface
      } else if (op.op == log::UctOp::ep_check || is_endpoint_check(op)) {
        reason(op, "keepalive");  // evidence: it asks whether the peer is alive, and nothing else
      } else if (is(op, AmId::wireup)) {
        reason(op, "wireup");  // evidence: the AM id
      }
    });
  }

  static bool is_endpoint_check(const UctOp& op) {
    return is(op, AmId::wireup) && op.header.count > 0 &&
           (op.header.words[0] & 0xff) == wire::kWireupEndpointCheck;
  }

  // Evidence: its flags, which say that what was posted before is given up; or that nobody asked
  // for it, and the endpoint's destruction came next. When a connection fails while the program
  // closes its endpoint, UCP discards what is below without such flags.
  void give_discards() {
    each_open([&](UctOp& op) {
      const bool cancels = op.op == log::UctOp::ep_flush && op.header.count > 0 &&
                           (op.header.words[0] & kFlushCancels) != 0;
      if (cancels || (op.origin_kind == log::Origin::none && ends_endpoint(op))) {
        reason(op, "endpoint_discard");
      }
    });
  }

  // The last thing that was posted on an endpoint before it was destroyed.
  bool ends_endpoint(const UctOp& op) {
    if (last_posts_.empty()) {
      for (const UctOp& other : job_.uct) {
        if (accepted(other) && other.endpoint_row != kNone) {
          std::uint64_t& last = last_posts_[{other.process, other.endpoint_row}];
          last = std::max(last, other.start_tick);
        }
      }
    }
    if (op.op != log::UctOp::ep_flush || op.endpoint_row == kNone) {
      return false;
    }
    const auto& endpoints = job_.logs[static_cast<std::size_t>(op.process)].endpoints;
    return endpoints[static_cast<std::size_t>(op.endpoint_row)].destroyed_tick != UINT64_MAX &&
           last_posts_.at({op.process, op.endpoint_row}) == op.start_tick;
  }

  void give_last_reasons() {
    each_open([&](UctOp& op) {
      if (ends_endpoint(op)) {
        reason(op, "endpoint_discard");  // evidence: the endpoint's destruction came next
      } else if (is_flush(op)) {
        reason(op, "internal_flush");  // evidence: no UCP flush was in progress
      } else if (is_answer(op)) {
        reason(op, "remote_request");  // evidence: the AM id, which only answers requests
      }
    });
  }

  void by_origin() {
    each_open([&](UctOp& op) { by_origin(op); });
  }

  void by_origin(UctOp& op) {
    if (op.origin_kind != log::Origin::ucp) {
      return;
    }
    const auto& ids = job_.logs[static_cast<std::size_t>(op.process)].ucp_by_id;
    const auto found = ids.find(op.origin);
    if (found != ids.end() && speaks_for(op, ucp(found->second))) {
      attribute(op, found->second, Link::exact);
      mark_started(op);
    }
  }

  // Staging is for the operation that it was posted in, whatever that one turned out to serve.
  void by_parent() {
    for (UctOp& op : job_.uct) {
      if (!accepted(op) || op.parent_id == 0) {
        continue;
      }
      const auto& ids = job_.logs[static_cast<std::size_t>(op.process)].uct_by_id;
      const auto found = ids.find(op.parent_id);
      const UctOp* parent =
          found != ids.end() ? &job_.uct[static_cast<std::size_t>(found->second)] : nullptr;
      if (parent != nullptr && parent->link != Link::unattributed) {
        op.serves = parent->serves;
        op.link = parent->link;
        op.reason = parent->reason;
      } else {
        by_origin(op);  // the operation around it was refused
      }
    }
  }

  // Puts and gets that stay in their process while the data go to another one: copies between the
  // memory of a GPU and the host's, on the way there.
  void find_copies() {
    for (UctOp& op : job_.uct) {
      if (!op.moves_memory() || op.serves == kNone || peer_of(job_, op) != op.process) {
        continue;
      }
      const Index other = receiver_of(ucp(op.serves));
      op.staging |= other != kNone && other != ucp(op.serves).process;
    }
  }

  static bool speaks_for(const UctOp& op, const UcpOp& origin) {
    switch (op.route) {
      case log::Route::blocking:
        return false;  // it makes progress, which posts for anybody
      case log::Route::request:
        return may_wait_for(op, origin);
      default:
        return true;
    }
  }

  // What came back by the address of its request is held against its content: should the request be
  // another one by now, nothing is claimed.
  static bool may_wait_for(const UctOp& op, const UcpOp& origin) {
    if (origin.ended && origin.end_ns >= 0 && origin.end_ns < op.start_ns) {
      return false;
    }
    if (RemoteRange range; origin.is_one_sided() && remote_range(op, range)) {
      return range.family == origin.family() && range.address - origin.remote <= origin.bytes &&
             range.bytes <= origin.bytes - (range.address - origin.remote);
    }
    if (origin.is(log::UcpFamily::tag_send) && starts_tag_send(op) && op.header.count > 0) {
      return op.header.words[0] == origin.tag;
    }
    return true;
  }

  void mark_started(const UctOp& op) {
    if (starts_tag_send(op) || !ucp(op.serves).is(log::UcpFamily::tag_send)) {
      started_[static_cast<std::size_t>(op.serves)] = true;
    }
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
      if (is_announcement(op) && !taken_by_interface(op) &&
          (op.header.count == wire::shape_of(op.am_id).words || is_tag_eager_sync(op))) {
        posts_[key_of(ucp(op.serves).peer_process, op.am_id, op.header)].push_back(op.serves);
      }
    }
    message_ids_.seal();
    send_requests_.seal();
  }

  // What a handler acts upon and whose header tells it from others.
  template <typename Event>
  static bool is_announcement(const Event& event) {
    return is(event, AmId::rndv_rts) || is(event, AmId::eager_sync_only) ||
           is(event, AmId::eager_sync_first) || is_tag_eager_sync(event) ||
           is_remote_request(event);
  }

  // A rendezvous that met a receive posted to the interface, which fetched the data: nothing was
  // handed up. One that met none is cancelled when the receiver has the data another way.
  static bool taken_by_interface(const UctOp& op) {
    return op.op == log::UctOp::tag_rndv_zcopy && op.complete_ns >= 0 && op.end_status == 0;
  }

  // What each arrival serves: for what its handler posts, and for the ids and buffers it announces.
  void resolve_arrivals() {
    arrival_serves_.assign(job_.arrivals.size(), kNone);
    std::map<HeaderKey, std::size_t> seen;
    for (const Index index : in_time_order(job_.arrivals)) {
      const auto i = static_cast<std::size_t>(index);
      const Arrival& arrival = job_.arrivals[i];
      if (is_announcement(arrival)) {
        arrival_serves_[i] = post_of(arrival, seen);
        learn_announcement(arrival, arrival_serves_[i]);
      } else if (is(arrival, AmId::rndv_rtr)) {
        arrival_serves_[i] =
            send_requests_.find({arrival.process}, arrival.header.words[0], arrival.start_ns);
        learn_offer(arrival, arrival_serves_[i]);
      } else if (is(arrival, AmId::rndv_ats)) {  // after which the interface's part is cancelled
        arrival_serves_[i] =
            send_requests_.find({arrival.process}, arrival.header.words[0], arrival.start_ns);
      }
    }
    offers_.seal();
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
      offers_.add(
          {arrival.start_ns, arrival.process, true, scope.peer, words[3], words[4], serves});
    } else if (!is(arrival, AmId::put) && !is_tag_eager(arrival)) {
      remote_requests_.add(scope, words[request_word(arrival)], arrival.start_ns, serves);
    }
  }

  // Where the header of a request has its req_id (event-log/ucp_wire.hpp).
  static std::size_t request_word(const Arrival& arrival) {
    return is(arrival, AmId::eager_sync_first) ? 4 : is(arrival, AmId::get_request) ? 3 : 2;
  }

  void learn_offer(const Arrival& rtr, Index serves) {
    if (serves != kNone && rtr.header.count == 5) {
      const auto& words = rtr.header.words;
      const IdScope scope{rtr.process, receiver_of(ucp(serves))};
      receive_requests_.add(scope, words[1], rtr.start_ns, serves);
      offers_.add({rtr.start_ns, rtr.process, false, scope.peer, words[2], words[3], serves});
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
      if (op.link == Link::unattributed && is_remote_request(arrival)) {
        reason(op, "remote_request");  // evidence: the AM id that asked
      }
    });
  }

  // What was sent with one header to one process, and how much of that has arrived.
  struct Delivered {
    std::vector<Index> sends;  // in order
    std::size_t next = 0;
    bool several = false;  // processes that sent them
  };

  const Arrival& arrival(Index index) const {
    return job_.arrivals[static_cast<std::size_t>(index)];
  }
  static HeaderKey key_of_arrival(const Arrival& arrival) {
    return key_of(arrival.process, arrival.am_id, arrival.header);
  }
  Index arrival_of(const UctOp& op) const {
    const auto& ids = job_.logs[static_cast<std::size_t>(op.process)].arrival_by_id;
    const auto found = op.origin_kind == log::Origin::arrival ? ids.find(op.origin) : ids.end();
    return found != ids.end() ? found->second : kNone;
  }

  // Copies out of a message that its handler delivers. Messages with the same header arrive in the
  // order in which they were sent, as long as one process sends them.
  void by_delivered_arrival() {
    std::map<HeaderKey, Delivered> wanted;
    each_open([&](UctOp& op) {
      if (const Index index = arrival_of(op); op.staging && index != kNone) {
        wanted[key_of_arrival(arrival(index))];
      }
    });
    if (wanted.empty()) {
      return;
    }
    learn_deliveries(wanted);
    std::unordered_map<Index, std::pair<Index, Link>> serves_of;  // by arrival
    for (const Index index : in_time_order(job_.arrivals)) {
      const auto place = wanted.find(key_of_arrival(arrival(index)));
      if (place != wanted.end() && place->second.next < place->second.sends.size()) {
        Delivered& delivered = place->second;
        serves_of[index] = {delivered.sends[delivered.next++],
                            delivered.several ? Link::inferred : Link::exact};
      }
    }
    each_open([&](UctOp& op) {
      const auto found = op.staging ? serves_of.find(arrival_of(op)) : serves_of.end();
      if (found != serves_of.end()) {
        attribute(op, found->second.first, found->second.second);
      }
    });
  }

  void learn_deliveries(std::map<HeaderKey, Delivered>& wanted) {
    for (const Index index : in_time_order(job_.uct)) {
      const UctOp& op = this->op(index);
      if (!accepted(op) || op.serves == kNone) {
        continue;
      }
      const UcpOp& send = ucp(op.serves);
      const Index receiver = send.partner != kNone ? ucp(send.partner).process : send.peer_process;
      const auto place = wanted.find(key_of(receiver, op.am_id, op.header));
      if (place != wanted.end()) {
        Delivered& delivered = place->second;
        delivered.several = delivered.several || (!delivered.sends.empty() &&
                                                  ucp(delivered.sends[0]).process != op.process);
        delivered.sends.push_back(op.serves);
      }
    }
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
      } else if (is(op, AmId::rndv_ats) || is(op, AmId::rndv_rtr) || is(op, AmId::eager_sync_ack) ||
                 is(op, AmId::get_reply) || is(op, AmId::atomic_reply)) {
        serves = remote_requests_.find({op.process, peer_of(job_, op)}, words[0], op.start_ns);
      } else if (is(op, AmId::rndv_data) || is(op, AmId::rndv_atp)) {
        serves = receive_requests_.find({op.process, peer_of(job_, op)}, words[0], op.start_ns);
      }
      attribute(op, serves, Link::exact);
    });
  }

  void by_address() {
    each_open([&](UctOp& op) {
      if (op.remote != 0 && op.moves_memory()) {
        attribute(op, offers_.find(op, peer_of(job_, op)), Link::inferred);
      }
    });
  }

  Job& job_;
  IdTable message_ids_;       // sender's message id
  IdTable send_requests_;     // sender's own request id, from its RTS
  IdTable remote_requests_;   // receiver: the sender's request id, from arrivals that announce it
  IdTable receive_requests_;  // sender: the receiver's request id, from RTR arrivals
  std::map<HeaderKey, std::vector<Index>> posts_;
  OfferTable offers_;
  std::vector<Index> arrival_serves_;
  std::map<std::pair<Index, Index>, std::uint64_t> last_posts_;  // by process and endpoint
  std::vector<bool> started_;  // UCP operations of which a first UCT operation is known
};

}  // namespace

void attribute_transfers(Job& job) { Attributor(job).run(); }

}  // namespace uctrace::merge
