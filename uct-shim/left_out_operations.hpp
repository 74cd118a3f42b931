// UCT operations that begin while recording is off (docs/windows.md). One is counted at its start,
// when its lane is sure to leave events out, and nothing is kept of it: neither its end nor what it
// serves. Not so if it serves something that is followed.
#pragma once

#include <uct/api/uct.h>

#include <type_traits>

#include "event-log/recorder/recorder.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::uct {

// The lane of an operation that begins now and may be left out like that; else nullptr.
UCTRACE_HOT inline log::Lane* lane_of_left_out() {
  const bool follows = thread_state.context.kind != log::Origin::none || any_deferred();
  return follows ? nullptr : log::lane_that_stays_off();
}

// Counted as complete, until its status is known.
UCTRACE_HOT inline void leave_out(log::Lane& lane) {
  ++lane.counters().uct_posted_ok;
  lane.leave_out(log::DropKind::uct);
}
// The lane where it is counted; nullptr: it takes the usual way.
UCTRACE_HOT inline log::Lane* try_to_leave_out() {
  log::Lane* const lane = lane_of_left_out();
  if (lane != nullptr) leave_out(*lane);
  return lane;
}

void correct_left_out(log::Lane& lane, ucs_status_t status);

template <typename Status>
inline constexpr bool kIsLength = !std::is_same_v<Status, ucs_status_t>;

// Takes note of the result and returns it: a ucs_status_t, or the length of a bcopy.
template <typename Status>
UCTRACE_HOT inline Status end_left_out(log::Lane& lane, Status status) {
  if (kIsLength<Status> ? status < 0 : status != static_cast<Status>(UCS_OK)) [[unlikely]] {
    correct_left_out(lane, static_cast<ucs_status_t>(status));
  }
  return status;
}

// Whether such an operation only moves data. Others order or match, for what was before or comes
// later.
constexpr bool may_be_left_out(log::UctOp op) {
  return op <= log::UctOp::atomic64_fetch || op == log::UctOp::put_sgl_zcopy ||
         op == log::UctOp::get_sgl_zcopy;
}

}  // namespace uctrace::uct
