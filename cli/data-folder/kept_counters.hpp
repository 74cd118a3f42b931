// The counters of processes that could not write their log.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// A process that could not write its log left its counters in the fallback folder. After the job
// has released its unused space, they are moved to the other logs, so `info` knows what was
// dropped. If there is still no room, or no folder, nothing happens: a warning has reported the
// loss.
void keep_counters(const std::filesystem::path& fallback, const std::filesystem::path& folder);

}  // namespace uctrace::cli
