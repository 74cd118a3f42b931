// Which UCP operation each UCT operation serves.
//
// In this order, each step using what the earlier ones found:
//   1. the UCP call, pending queue or completion in which the shim saw it exact
//   2. deferred requests (wireup): the header or address is that of one operation that has no
//      fragment yet (log-merger/attribute/deferred.cpp); a flush: the one in progress inferred
//   3. an active message handler: the arrival's header names the message it serves    exact
//   4. ids in the operation's own header: message id, request ids                     exact
//   5. the address range of a rendezvous that the peer announced                      inferred
// An operation posted inside another one, to stage its data, serves the same as that one; for other
// staging copies see log-merger/attribute/staging.cpp. Operations that serve none have a reason,
// with evidence (log-merger/attribute/reasons.cpp); the rest is unattributed.
//
// A fragment that the receiver issues (rendezvous get, RTR, ATS) serves the sender's operation. An
// answer to a put, get or atomic request that needs the target's CPU serves the initiator's
// operation. Ids on the wire repeat over time, so every look-up takes the newest that is not later.
#include "log-merger/attribute/announcements.hpp"
#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/deferred.hpp"
#include "log-merger/attribute/reasons.hpp"
#include "log-merger/attribute/staging.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {


class Attributor {
 public:
  explicit Attributor(Job& job)
      : job_(job),
        partly_recorded_(job.partly_recorded()),
        open_(job),
        reasons_(job, open_),
        announcements_(job),
        started_(job.ucp.size()) {}

  void run() {
    find_device_copies(job_);
    reasons_.give_first();
    by_origin();
    reasons_.give_discards();
    attribute_flushes(job_);
    attribute_deferred(job_, started_);
    announcements_.learn_posts();
    announcements_.resolve_arrivals();
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

  // Ids on the wire repeat: if the user did not want all events recorded, the newest known id may
  // not be the newest one used.
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

  // Staging serves whatever the operation that it was posted in serves.
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
        return false;  // it makes progress, which posts for any operation
      case log::Route::request:
        return may_wait_for(op, origin);
      default:
        return true;
    }
  }

  // Contexts found by the address of the request are checked against the content: if the request
  // may be another one by now, nothing is claimed.
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
      attribute(op, announcements_.served_by(found->second), Link::exact);
      if (op.link == Link::unattributed && is_remote_request(arrival)) {
        give_reason(op, "remote_request");  // evidence: the AM id that asked
      }
    });
  }

  void by_header_ids() {
    open_.each_at_once([&](UctOp& op) { attribute(op, announcements_.named_by(op), Link::exact); });
  }

  void by_address() {
    open_.each_at_once([&](UctOp& op) {
      if (op.remote != 0 && op.moves_memory()) {
        attribute(op, announcements_.offered_to(op), Link::inferred);
      }
    });
  }

  Job& job_;
  const bool partly_recorded_;
  OpenOperations open_;
  Reasons reasons_;
  Announcements announcements_;
  StartedOperations started_;  // UCP operations of which a first UCT operation is known
};

}  // namespace

void attribute_transfers(Job& job) { Attributor(job).run(); }

}  // namespace uctrace::merge
