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

// max(0, min(other, L) - E): the time in a call until something happened elsewhere. What is said to
// have happened after the call was left is a fault of the clocks, and is cut off.
inline std::int64_t wait_until(const CallTimes& call, std::int64_t other_ns) {
  return std::max<std::int64_t>(0, std::min(other_ns, call.left_ns) - call.entered_ns);
}

// max(0, L - max(first L, min(last E, L))): the time in an operation of all with all after both the
// last process entered it and the first one left it.
inline std::int64_t completion_of(const CallTimes& call, std::int64_t last_entered_ns,
                                  std::int64_t first_left_ns) {
  return std::max<std::int64_t>(
      0, call.left_ns - std::max(first_left_ns, std::min(last_entered_ns, call.left_ns)));
}

// Something that a call waited for: a message, an operation.
struct Awaited {
  Wait wait;  // kind, cause, message; `unknown` where ready_ns is not to be believed
  std::int64_t ready_ns = -1;  // when the other side was there; what follows is no longer waiting
  std::int64_t done_ns = -1;   // when it was over, -1 = when the call was
  std::int64_t margin_ns = 0;  // how far ready_ns may be off
  std::int64_t until_ns = -1;  // of what is not known: it is no wait after this, -1 = it may be
};

// How the waits of one call are divided: the time up to when the first was there is its, from there
// to the second the second's, and so on; so they add up to the longest one, which is what Scalasca
// takes alone. A wait of no more than its margin is not claimed, but told as unknown. Where
// something is not known at all, so is the time after the last wait that is, as far as that goes.
// `awaited` may be in any order. The rows are by time.
std::vector<Wait> divide_waits(const CallTimes& call, std::vector<Awaited> awaited);

}  // namespace uctrace::merge
