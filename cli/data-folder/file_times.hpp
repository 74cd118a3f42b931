// When files were written, by the file server's clock. Nanoseconds of CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <filesystem>

namespace uctrace::cli {

// 0 if it is not there. Links are not followed.
std::uint64_t modified_ns(const std::filesystem::path& file);

// The present time of the folder's file server: the time that a new file gets. This host's time if
// no file can be made.
std::uint64_t server_time_ns(const std::filesystem::path& folder);

}  // namespace uctrace::cli
