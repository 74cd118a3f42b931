// When files were written, by the clock of who keeps them. Nanoseconds of CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <filesystem>

namespace uctrace::cli {

// 0 if it is not there. Links are not followed.
std::uint64_t modified_ns(const std::filesystem::path& file);

// What the clock of the folder's file server says now: that of the time which a new file gets. This
// host's clock where none can be made.
std::uint64_t server_time_ns(const std::filesystem::path& folder);

}  // namespace uctrace::cli
