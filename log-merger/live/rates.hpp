// How fast a job counts: what the tables of its counters say, and what of it came since the reading
// before, a second.
#pragma once

#include "log-merger/live/live_job.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

// The table `by`, not `all`: rates in front of the totals, the greatest first. A number of the table
// is the difference of two readings modulo 2^64, summed over processes: it is never negative. Rows
// of the same words are one.
Table rates_table(const Reading& reading, CountersBy by);

}  // namespace uctrace::live
