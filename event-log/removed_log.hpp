// A log that somebody removed while the process wrote it. Private to event-log/.
#pragma once

#include "event-log/output_log.hpp"
#include "event-log/record_walk.hpp"

namespace uctrace::log {

// Leaves the counters in UCTRACE_FALLBACK_DIR, with all records of the removed log counted as
// dropped; `losses` has those that are not in its file. Reads the file: for the end of a process.
void keep_counters_of_removed(const OutputLog& file, Losses& losses);

}  // namespace uctrace::log
