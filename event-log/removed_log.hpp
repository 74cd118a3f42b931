// What becomes of the counters when the log cannot hold them: somebody removed it while the process
// wrote it, or its file system takes nothing more, not even in a place that was written before.
// Private to event-log/.
#pragma once

#include "event-log/output_log.hpp"
#include "event-log/record_walk.hpp"

namespace uctrace::log {

// Leaves the counters in UCTRACE_FALLBACK_DIR, with `losses` counted as dropped because of
// `reason`.
void keep_counters(const OutputLog& file, const Losses& losses, int reason);

// The same for a log whose file is gone: with all its records, whose blocks reach to `end`, and
// `losses`, which are not in it. Reads the file: for the end of a process.
void keep_counters_of_removed(const OutputLog& file, std::uint64_t end, Losses& losses);

}  // namespace uctrace::log
