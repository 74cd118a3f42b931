// What counters rose by between two readings. Private to log-merger/live.
#pragma once

#include <cstdint>

namespace uctrace::live {

// A counter may have passed its end meanwhile. A file that says less than before is an older state
// of itself, as a copy on a network may be: nothing came then.
constexpr std::uint64_t came_since(std::uint64_t before, std::uint64_t now) {
  const std::uint64_t difference = now - before;
  return difference >> 63 == 0 ? difference : 0;
}

}  // namespace uctrace::live
