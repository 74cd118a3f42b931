// Places the clocks of a job's hosts on one of them, from measurements made while the job ran, and
// bounds the error of a time. Private to log-merger/.
//
// A measurement gives two clocks at one instant, with an error of half its round trip. Two
// measurements of a pair of clocks make a line. Between them the line is as good as they are, plus
// a little, because the rate of a quartz is not quite constant. Outside, the error grows with the
// uncertainty of the rate. A single measurement says nothing about the rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace uctrace::merge {

// Two computers' clocks drift apart by less than this: each is within 50 ppm of its nominal rate.
inline constexpr double kLargestRate = 100e-6;
// How much the relative rate of two clocks changes while a job runs: by a few degrees of
// temperature.
inline constexpr double kRateChange = 0.1e-6;

// Two clocks, by their numbers in the job, at one instant.
struct ClockMeasurement {
  std::size_t own = 0, peer = 0;
  std::int64_t own_ns = 0, peer_ns = 0;
  std::int64_t round_trip_ns = 0;  // > 0
  std::uint32_t round_trips = 0;

  double error_ns() const { return static_cast<double>(round_trip_ns) / 2; }
};

// The knowledge about one pair of clocks, over the time of the reference. With one measurement
// begin = end.
struct ClockStretch {
  std::int64_t begin_ns = 0, end_ns = 0;
  double begin_error_ns = 0, end_error_ns = 0;
  double off_line_ns = 0;  // the largest distance of other measurements from the line

  // The largest error of the line at a time of the reference.
  double error_at(std::int64_t reference_ns) const;
};

// A clock on the reference.
struct PlacedClock {
  log::JobLine line;                    // from its own time to that of the reference
  std::vector<ClockStretch> stretches;  // from it to the reference; none: it is the reference
  std::uint64_t measurements = 0;       // of the first stretch, like the others here
  std::uint64_t round_trips = 0;
  std::int64_t round_trip_ns = 0;  // the longest of those that define the line
  bool drift_known = true;

  double error_at(std::int64_t reference_ns) const;
};

// By number of the clock; nothing if no measurements lead to it.
std::vector<std::optional<PlacedClock>> place_clocks(
    std::size_t clocks, std::size_t reference, const std::vector<ClockMeasurement>& measurements);

}  // namespace uctrace::merge
