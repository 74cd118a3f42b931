#include "event-log/reader/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace uctrace::log {
namespace {

std::int64_t saturated(double ns) {
  // The largest double below 2^63; NaN goes to 0.
  constexpr double kLargest = 9223372036854774784.0;
  if (!(ns > 0)) return 0;
  return ns >= kLargest ? INT64_MAX : static_cast<std::int64_t>(std::llround(ns));
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::int64_t on_line(const JobLine& line, std::int64_t own_ns) {
  // A damaged log may hold any value. The product is computed in doubles: their rounding of such
  // large times is far below the error of a rate.
  constexpr auto kFar = static_cast<double>(kFarAwayNs);
  const double drift =
      line.rate * (static_cast<double>(own_ns) - static_cast<double>(line.origin_ns));
  std::int64_t result = 0;
  if (__builtin_add_overflow(own_ns, line.offset_ns, &result)) {
    return line.offset_ns > 0 ? kFarAwayNs : -kFarAwayNs;
  }
  result = std::clamp(result, -kFarAwayNs, kFarAwayNs);
  if (line.rate != 0) result += std::llround(std::clamp(drift, -kFar, kFar));
  return std::clamp(result, -kFarAwayNs, kFarAwayNs);
}

ClockFit::ClockFit(Clock clock, std::vector<Anchor> anchors) : anchors_(std::move(anchors)) {
  std::erase_if(anchors_, [](const Anchor& anchor) { return anchor.monotonic_ns == 0; });
  std::stable_sort(anchors_.begin(), anchors_.end(),
                   [](const Anchor& a, const Anchor& b) { return a.tick < b.tick; });
  for (std::size_t i = 1; i < anchors_.size(); ++i) {
    if (anchors_[i].monotonic_ns < anchors_[i - 1].monotonic_ns) ++backward_anchors_;
  }
  if (clock == Clock::monotonic_raw) {
    rate_known_ = true;
  } else if (!anchors_.empty()) {
    origin_ = anchors_.front();
    const Anchor& last = anchors_.back();
    if (last.tick > origin_.tick && last.monotonic_ns > origin_.monotonic_ns) {
      // Doubles are exact to 0.02 ns over a day, because only distances from the origin are scaled.
      ns_per_tick_ = static_cast<double>(last.monotonic_ns - origin_.monotonic_ns) /
                     static_cast<double>(last.tick - origin_.tick);
      rate_known_ = true;
    }
  }
  measure_deviation();
}

void ClockFit::measure_deviation() {
  max_deviation_ns_ = 0;
  for (const Anchor& anchor : anchors_) {
    const auto fitted = static_cast<std::uint64_t>(monotonic_ns(anchor.tick));
    max_deviation_ns_ = std::max(max_deviation_ns_, distance(fitted, anchor.monotonic_ns));
  }
}

void ClockFit::adopt_rate(double ns_per_tick) {
  ns_per_tick_ = ns_per_tick;
  rate_known_ = true;
  measure_deviation();
}

std::int64_t ClockFit::monotonic_ns(std::uint64_t tick) const {
  const bool before = tick < origin_.tick;
  const std::int64_t away = duration_ns(distance(tick, origin_.tick));
  const std::int64_t origin_ns =
      static_cast<std::int64_t>(std::min<std::uint64_t>(origin_.monotonic_ns, INT64_MAX));
  if (before) return away > origin_ns ? 0 : origin_ns - away;
  return away > INT64_MAX - origin_ns ? INT64_MAX : origin_ns + away;
}

std::int64_t ClockFit::job_ns(std::uint64_t tick) const {
  return on_line(job_line_, monotonic_ns(tick));
}

std::int64_t ClockFit::duration_ns(std::uint64_t ticks) const {
  if (ns_per_tick_ == 1)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(ticks, INT64_MAX));
  return saturated(static_cast<double>(ticks) * ns_per_tick_);
}

}  // namespace uctrace::log
