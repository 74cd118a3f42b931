// Sums of times. Times of a damaged log may be anything: durations are clamped at 0, and sums at
// the longest that a store takes (store_ranges.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

namespace uctrace {

inline constexpr std::int64_t kLongestNs = (std::int64_t{1} << 62) - 1;

// Both within kLongestNs of 0, like all times of a run.
constexpr std::int64_t duration_ns(std::int64_t begin_ns, std::int64_t end_ns) {
  return end_ns > begin_ns ? std::min(end_ns - begin_ns, kLongestNs) : 0;
}

// `sum_ns`: from 0 to kLongestNs. Negative durations add nothing.
constexpr void add_ns(std::int64_t& sum_ns, std::int64_t more_ns) {
  sum_ns = std::min(sum_ns + std::clamp<std::int64_t>(more_ns, 0, kLongestNs), kLongestNs);
}

}  // namespace uctrace
