// UCP operations that begin while recording is off (docs/windows.md). One is counted at its start,
// when its lane is sure to leave events out, and UCP gets what the caller passed: neither its end
// nor what it posts is followed. Only receives of tags are: how many messages are on their way
// must be known when recording begins.
//
// Flushes take their usual way. They are rare, and do not say for which endpoint they post.
#pragma once

#include <ucp/api/ucp.h>

#include "event-log/recorder/counters.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

// The lane of an operation that begins now and is left out like that; else nullptr.
UCTRACE_HOT inline log::Lane* lane_of_left_out() {
  if (!log::leaves_out()) return nullptr;
  return layer_on() && !any_left_out ? log::lane_that_stays_off() : nullptr;
}

// Counted as accepted, until its result is known.
UCTRACE_HOT inline void leave_out(log::Lane& lane, log::UcpFamily family) {
  called_as = log::UcpFunction::none;  // as name_for() does
  log::LiveCounters& counters = lane.counters();
  ++counters.ucp_operations;
  ++(counters.*detail::kAccepted[static_cast<std::size_t>(family)]);
  lane.leave_out(log::DropKind::ucp);
}

// For a result that is not UCS_OK, which it returns: the operation failed at once, or nothing will
// tell of its end.
ucs_status_ptr_t correct_left_out(const log::Lane& lane, log::UcpFamily family,
                                  ucs_status_ptr_t result);

// `post` makes the original call.
template <typename Post>
UCTRACE_HOT inline ucs_status_ptr_t post_left_out(log::Lane& lane, log::UcpFamily family,
                                                  Post post) {
  leave_out(lane, family);
  ucs_status_ptr_t result;
  {
    const uct::NoContextScope scope;
    result = post();
  }
  return result == nullptr ? result : correct_left_out(lane, family, result);
}

}  // namespace uctrace::ucp
