// Numbers with their units, as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace uctrace {

// 1536 -> "1.5 KiB"; numbers below 1 KiB are exact.
std::string format_bytes(std::uint64_t bytes);
// 83100 -> "83.1 us".
std::string format_duration(std::uint64_t ns);

}  // namespace uctrace
