// What the steps of the attribution share: how an operation gets its result, and how the two sides
// of a header are told to be the same. Private to the attribution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Whether it went over an interface of a UCP whose calls are not in the log: neither is what it
// serves, and the ids in its headers and its addresses may be the same as those of another UCP.
template <typename Event>
bool is_of_bypassed_ucp(const Job& job, const Event& event) {
  const Interface* interface =
      job.logs[static_cast<std::size_t>(event.process)].interface(event.interface);
  return interface != nullptr && interface->bypassed;
}

// Those that a step may still attribute; staging inside another operation gets the result of that.
template <typename Body>
void each_open(Job& job, Body body) {
  for (UctOp& op : job.uct) {
    if (accepted(op) && op.link == Link::unattributed && op.parent_id == 0 &&
        !is_of_bypassed_ucp(job, op)) {
      body(op);
    }
  }
}

inline void attribute(UctOp& op, Index serves, Link link) {
  if (serves != kNone) {
    op.serves = serves;
    op.link = link;
  }
}

inline void give_reason(UctOp& op, const char* why) {
  op.link = Link::reason;
  op.reason = why;
}

// The process at the other end.
inline Index receiver_of(const Job& job, const UcpOp& send) {
  return send.partner != kNone ? job.ucp[static_cast<std::size_t>(send.partner)].process
                               : send.peer_process;
}

// A header that both sides saw: the k-th arrival at a process with it is the k-th post to that
// process with it. kNone: the sender's endpoint does not tell its peer.
using HeaderKey = std::tuple<Index, std::uint8_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t>;

inline HeaderKey key_of(Index destination, std::uint8_t am_id, const HeaderWords& h) {
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

}  // namespace uctrace::merge
