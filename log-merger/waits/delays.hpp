// Finds the work that causes waits. The awaited process may be late because of its own work, or
// because it waited itself: then its waits pass the cost on, back to the original work.
//
// After D. Boehme, M. Geimer, L. Arnold, F. Voigtlaender, F. Wolf, "Identifying the root causes of
// wait states in large-scale parallel applications", ACM TOPC 3(2), 2016, with one category of work
// instead of one for each call path:
//   since the two last met, the late process spent D_work = max(0, its time without waits - that of
//   the waiting one) more on work, and waited for D_wait. D_work / (D_work + D_wait) of the wait's
//   cost is assigned to its work, and the rest to its waits, by length. A wait costs its own length
//   (the short-term cost) and the cost passed on to it (the long-term cost).
// So the costs assigned to work add up to the total waiting time.
#pragma once

#include "log-merger/job/job.hpp"
#include "log-merger/waits/meetings.hpp"

namespace uctrace::merge {

// Fills Run::delays from Run::waits.
void find_delays(Job& job, const Meetings& meetings);

}  // namespace uctrace::merge
