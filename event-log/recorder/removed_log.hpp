// Saves the counters when the log cannot hold them: it was removed while the process wrote it, or
// its file system takes nothing more, not even in a place that was written before. Private to
// event-log/.
#pragma once

namespace uctrace::log {

// Leaves the packer's copies of page and tables in UCTRACE_FALLBACK_DIR, because of `reason`.
void keep_counters(int reason);

}  // namespace uctrace::log
