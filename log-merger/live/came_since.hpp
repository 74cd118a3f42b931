// The increase of counters between two readings. Private to log-merger/live.
#pragma once

#include <cstdint>

namespace uctrace::live {

// A counter may have wrapped meanwhile. A file with smaller counts than before is an older copy, as
// on a network file system: then nothing came.
constexpr std::uint64_t came_since(std::uint64_t before, std::uint64_t now) {
  const std::uint64_t difference = now - before;
  return difference >> 63 == 0 ? difference : 0;
}

}  // namespace uctrace::live
