#include "log-merger/summaries/estimates.hpp"

#include <algorithm>
#include <cmath>

namespace uctrace {

std::optional<Estimate> estimate_of(const Run& run, Reach reach, double bytes) {
  std::optional<Estimate> estimate;
  for (const EstimateRow& row : run.estimates) {
    if (row.reach != reach || row.per_second_bytes == 0) continue;
    constexpr double kNanosecond = 1e9, kPicosecondsOfOne = 1e3, kMost = 9e18;
    const double ns = static_cast<double>(row.latency_ps) / kPicosecondsOfOne +
                      bytes / static_cast<double>(row.per_second_bytes) * kNanosecond;
    const auto rounded = static_cast<std::uint64_t>(std::llround(std::min(ns, kMost)));
    if (!estimate) estimate = Estimate{rounded, rounded};
    estimate->least_ns = std::min(estimate->least_ns, rounded);
    estimate->most_ns = std::max(estimate->most_ns, rounded);
  }
  return estimate;
}

}  // namespace uctrace
