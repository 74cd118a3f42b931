// Which UCP operation each UCT operation serves.
//
// In this order, each step using what the earlier ones found:
//   1. the UCP call, pending queue or completion that the shim saw it come from       exact
//   2. what UCP queued inside itself (wireup): the header or address is that of one operation that
//      has no fragment yet (log-merger/attribute/deferred.cpp); a flush: the one in progress
//      inferred
//   3. an active message handler: the arrival's header names the message it serves    exact
//   4. ids in the operation's own header: message id, request ids                     exact
//   5. the address range of a rendezvous that the peer announced                      inferred
// What was posted inside another operation, to stage its data, serves what that one serves; other
// copies to stage data: log-merger/attribute/staging.cpp.
// Operations that serve none have a reason, each with evidence (log-merger/attribute/reasons.cpp);
// what is left is unattributed.
//
// A fragment that the receiver issues (rendezvous get, RTR, ATS) serves the sender's operation, and
// what answers a put, get or atomic request that needs the target's CPU serves its initiator's.
// Ids on the wire repeat over time, so every look-up takes the newest that is not later.
#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/deferred.hpp"
#include "log-merger/attribute/id_table.hpp"
#include "log-merger/attribute/offers.hpp"
#include "log-merger/attribute/posts.hpp"
#include "log-merger/attribute/reasons.hpp"
#include "log-merger/attribute/staging.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

class Attributor {
 public:
  explicit Attributor(Job& job)
      : job_(job),
        partly_recorded_(job.partly_recorded()),
        open_(job),
        reasons_(job, open_),
        started_(job.ucp.size()) {}

  void run() {
    find_device_copies(job_);
    reasons_.give_first();
    by_origin();
    reasons_.give_discards();
    attribute_flushes(job_);
    attribute_deferred(job_, started_);
    learn_posts();
    resolve_arrivals();
    by_arrival();
    by_header_ids();
    attribute_delivered_copies(job_, open_);
    by_address();
    reasons_.give_last();
    by_parent();
    find_copies(job_);
    if (partly_recorded_) {
      doubt_across_gaps();
    }
    reasons_.give_tool();
  }

 private:
  UctOp& op(UctIndex index) { return job_.uct[index]; }
  const UcpOp& ucp(UcpIndex index) const { return job_.ucp[index]; }

  void by_origin() {
    open_.each_at_once([&](UctOp& op) { by_origin(op); });
  }

  void by_origin(UctOp& op) {
    if (op.origin_kind != log::Origin::ucp) {
      return;
    }
    const auto& ids = job_.logs[op.process].ucp_by_id;
    const auto found = ids.find(op.origin);
    if (found != ids.end() && speaks_for(op, ucp(found->second))) {
      attribute(op, found->second, Link::exact);
      mark_started(op);
    }
  }

  // Ids on the wire repeat: where events are missing in between, by the user's wish, the newest one
  // that is known need not be the newest that was.
  void doubt_across_gaps() {
    each_at_once(job_, [&](UctOp& op) {
      if (op.link != Link::exact || op.origin_kind == log::Origin::ucp || op.serves == kNone) {
        return;
      }
      const UcpOp& served = ucp(op.serves);
      for (const ProcessIndex process : {op.process, served.process}) {
        if (!job_.logs[process].whole(served.start_ns, op.start_ns)) {
          op.link = Link::inferred;
        }
      }
    });
  }

  // Staging is for the operation that it was posted in, whatever that one turned out to serve.
  void by_parent() {
    each_at_once(job_, [&](UctOp& op) {
      if (!accepted(op) || op.parent_id == 0) {
        return;
      }
      const auto& ids = job_.logs[op.process].uct_by_id;
      const auto found = ids.find(op.parent_id);
      const UctOp* parent = found != ids.end() ? &job_.uct[found->second] : nullptr;
      if (parent != nullptr && parent->link != Link::unattributed) {
        op.serves = parent->serves;
        op.link = parent->link;
        op.reason = parent->reason;
      } else {
        by_origin(op);  // the operation around it was refused
      }
    });
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
      started_[op.serves] = true;
    }
  }

  // The ids that first fragments put on the wire. In the order of time, not of recording threads: a
  // header may be the same again, when a buffer and a request are used again.
  void learn_posts() {
    const auto begins_message = [](const UctOp& op) {
      return accepted(op) && op.serves != kNone &&
             (is_announcement(op) || is(op, AmId::eager_first));
    };
    for (const UctIndex index : in_time_order(job_.uct, begins_message)) {
      const UctOp& op = this->op(index);
      const auto& words = op.header.words;
      if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
        message_ids_.add({op.process}, words[2], op.start_ns, op.serves);
      }
      if (is(op, AmId::rndv_rts) && op.header.count == 5) {
        send_requests_.add({op.process}, words[2], op.start_ns, op.serves);
      }
      if (is_announcement(op) && !taken_by_interface(op) &&
          (op.header.count == wire::shape_of(op.am_id).words || is_tag_eager_sync(op))) {
        posts_.add(key_of(ucp(op.serves).peer_process, op.am_id, op.header), op.start_ns,
                   op.serves);
      }
    }
    message_ids_.seal();
    send_requests_.seal();
    posts_.seal();
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
    const auto tells = [](const Arrival& arrival) {
      return is_announcement(arrival) || is(arrival, AmId::rndv_rtr) || is(arrival, AmId::rndv_ats);
    };
    for (const ArrivalIndex i : in_time_order(job_.arrivals, tells)) {
      const Arrival& arrival = job_.arrivals[i];
      if (is_of_bypassed_ucp(job_, arrival)) {
        continue;
      }
      if (is_announcement(arrival)) {
        arrival_serves_[i] = post_of(arrival);
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

  UcpIndex post_of(const Arrival& arrival) {
    std::span<const Post> known = posts_.of(key_of(arrival.process, arrival.am_id, arrival.header));
    if (known.empty()) known = posts_.of(key_of(kNone, arrival.am_id, arrival.header));
    if (known.empty()) return kNone;
    if (partly_recorded_) return newest_post(arrival, known);
    const std::size_t k = posts_.count_arrival(known);
    return k < known.size() ? known[k].serves : known.back().serves;
  }

  // They cannot be counted. But a request id is not used again while its message is on its way: it
  // is the newest post before the arrival. Where the clocks let open which one that is, it is not
  // known.
  UcpIndex newest_post(const Arrival& arrival, std::span<const Post> known) {
    const UcpOp& first = ucp(known.front().serves);
    const std::optional<std::int64_t> margin =
        clock_margin_ns(job_, arrival.process, arrival.start_ns, first.process, arrival.start_ns);
    if (!margin) {
      return known.size() == 1 ? known.front().serves : kNone;
    }
    const auto behind = [&](std::int64_t at_ns) {
      return std::partition_point(known.begin(), known.end(),
                                  [&](const Post& post) { return post.at_ns <= at_ns; });
    };
    const auto surely = behind(arrival.start_ns - *margin);
    const auto maybe = behind(arrival.start_ns + *margin);
    const bool one = maybe == surely || maybe - known.begin() == 1;
    return one && maybe != known.begin() ? (maybe - 1)->serves : kNone;
  }

  void learn_announcement(const Arrival& arrival, UcpIndex serves) {
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

  // Where the header of a request has its req_id (event-log/format/ucp_wire.hpp).
  static std::size_t request_word(const Arrival& arrival) {
    return is(arrival, AmId::eager_sync_first) ? 4 : is(arrival, AmId::get_request) ? 3 : 2;
  }

  void learn_offer(const Arrival& rtr, UcpIndex serves) {
    if (serves != kNone && rtr.header.count == 5) {
      const auto& words = rtr.header.words;
      const IdScope scope{rtr.process, receiver_of(job_, ucp(serves))};
      receive_requests_.add(scope, words[1], rtr.start_ns, serves);
      offers_.add({rtr.start_ns, rtr.process, false, scope.peer, words[2], words[3], serves});
    }
  }

  void by_arrival() {
    open_.each_at_once([&](UctOp& op) {
      if (op.origin_kind != log::Origin::arrival) {
        return;
      }
      const auto& ids = job_.logs[op.process].arrival_by_id;
      const auto found = ids.find(op.origin);
      if (found == ids.end()) {
        return;
      }
      const Arrival& arrival = job_.arrivals[found->second];
      attribute(op, arrival_serves_[found->second], Link::exact);
      if (op.link == Link::unattributed && is_remote_request(arrival)) {
        give_reason(op, "remote_request");  // evidence: the AM id that asked
      }
    });
  }

  void by_header_ids() {
    open_.each_at_once([&](UctOp& op) {
      const auto& words = op.header.words;
      if (op.header.count == 0) {
        return;
      }
      UcpIndex serves = kNone;
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
    open_.each([&](UctOp& op) {
      if (op.remote != 0 && op.moves_memory()) {
        attribute(op, offers_.find(op, peer_of(job_, op)), Link::inferred);
      }
    });
  }

  Job& job_;
  const bool partly_recorded_;
  OpenOperations open_;
  Reasons reasons_;
  IdTable message_ids_;       // sender's message id
  IdTable send_requests_;     // sender's own request id, from its RTS
  IdTable remote_requests_;   // receiver: the sender's request id, from arrivals that announce it
  IdTable receive_requests_;  // sender: the receiver's request id, from RTR arrivals
  Posts posts_;
  OfferTable offers_;
  ByIndex<Arrival, UcpIndex> arrival_serves_;
  StartedOperations started_;  // UCP operations of which a first UCT operation is known
};

}  // namespace

void attribute_transfers(Job& job) { Attributor(job).run(); }

}  // namespace uctrace::merge
