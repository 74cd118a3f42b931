// The formulas of the wait states, over plain times. docs/waits.md has them with their sources.
//
// E is when a call was entered, L when it was left, in ns on the job clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "log-merger/model/wait_rows.hpp"

namespace uctrace::merge {

struct CallTimes {
  std::int64_t entered_ns = -1, left_ns = -1;
};

// max(0, min(other, L) - E): the time in a call until something happened elsewhere. An event after
// the call was left is a clock error, and is cut off.
inline std::int64_t wait_until(const CallTimes& call, std::int64_t other_ns) {
  return std::max<std::int64_t>(0, std::min(other_ns, call.left_ns) - call.entered_ns);
}

// max(0, L - max(first L, min(last E, L))): the time in an all-to-all operation after both the last
// process entered it and the first one left it.
inline std::int64_t completion_of(const CallTimes& call, std::int64_t last_entered_ns,
                                  std::int64_t first_left_ns) {
  return std::max<std::int64_t>(
      0, call.left_ns - std::max(first_left_ns, std::min(last_entered_ns, call.left_ns)));
}

// Something that a call waited for: a message, an operation.
struct Awaited {
  Wait wait;                   // kind, cause, message; `unknown` if ready_ns cannot be trusted
  std::int64_t ready_ns = -1;  // when the other side was there; the time after is not waiting
  std::int64_t done_ns = -1;   // when it was over, -1 = when the call was
  std::int64_t margin_ns = 0;  // how far ready_ns may be off
  std::int64_t until_ns = -1;  // if unknown: not a wait after this, -1 = it may be
};

// How the time of one call is divided among waits: the time until the first event belongs to the
// first, the time from there to the second event to the second, and so on. So they add up to the
// longest one, which is the only one that Scalasca takes. A wait within its margin is not claimed,
// but reported as unknown. If something is not known at all, the time after the last known wait is
// unknown. `awaited` may be in any order. The rows are sorted by time.
std::vector<Wait> divide_waits(const CallTimes& call, std::vector<Awaited> awaited);

}  // namespace uctrace::merge
