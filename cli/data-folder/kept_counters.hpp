// What processes counted that could not write their log.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// A process that could not write its log left its counters in the fallback folder: they go to the
// others now that the job has given its unused space back, so that `info` knows what was dropped.
// Where there is still no room, or no folder, nothing happens: a warning has told of the loss.
void keep_counters(const std::filesystem::path& fallback, const std::filesystem::path& folder);

}  // namespace uctrace::cli
