// The kind of a UCT operation or arrival on UCP's wire. Private to log-merger/.
#pragma once

#include "event-log/format/ucp_wire.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

template <typename Event>
bool is(const Event& event, wire::AmId id) {
  return wire::kind_of(event.am_id) == id;
}

inline bool is_flush(const UctOp& op) {
  return op.op == log::UctOp::ep_flush || op.op == log::UctOp::ep_fence ||
         op.op == log::UctOp::iface_flush;
}

// Sent for a receive that the peer's interface itself matches.
inline bool is_tag_eager(const UctOp& op) {
  return op.op >= log::UctOp::tag_eager_short && op.op <= log::UctOp::tag_eager_zcopy;
}
inline bool is_tag_eager(const Arrival& arrival) {
  return arrival.kind == log::ArrivalKind::tag_eager_unexpected ||
         arrival.kind == log::ArrivalKind::tag_matched;
}

// A synchronous send, which waits for its match: it has immediate data after its tag.
template <typename Event>
bool is_tag_eager_sync(const Event& event) {
  return is_tag_eager(event) && event.header.count == 2;
}

inline bool is_atomic(const UctOp& op) {
  return op.op >= log::UctOp::cswap32 && op.op <= log::UctOp::atomic64_fetch;
}

inline bool accepted(const UctOp& op) { return op.status >= 0; }

// The first fragment of a tagged message.
inline bool starts_tag_send(const UctOp& op) {
  using wire::AmId;
  return is_tag_eager(op) || is(op, AmId::eager_only) || is(op, AmId::eager_first) ||
         is(op, AmId::eager_sync_only) || is(op, AmId::eager_sync_first) || is(op, AmId::rndv_rts);
}

// The first fragment of an active message of the program; a rendezvous is announced as for tags.
template <typename Event>
bool starts_am_send(const Event& event) {
  using wire::AmId;
  return is(event, AmId::am_single) || is(event, AmId::am_single_reply) ||
         is(event, AmId::am_first) || is(event, AmId::rndv_rts);
}

// A request that the target's handler executes. Its header distinguishes it from others of its
// kind.
template <typename Event>
bool is_remote_request(const Event& event) {
  using wire::AmId;
  return is(event, AmId::put) || is(event, AmId::get_request) || is(event, AmId::atomic_request);
}

template <typename Event>
bool is_answer(const Event& event) {
  using wire::AmId;
  return is(event, AmId::get_reply) || is(event, AmId::atomic_reply) || is(event, AmId::completion);
}

// The range of remote memory of an operation; false: it is not one-sided.
struct RemoteRange {
  log::UcpFamily family;
  std::uint64_t address, bytes;
};
bool remote_range(const UctOp& op, RemoteRange& range);

}  // namespace uctrace::merge
