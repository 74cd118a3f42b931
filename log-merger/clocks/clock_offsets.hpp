// Places the clocks of a job's hosts on one of them, from what was measured between them while it
// ran, and says how far a time may be off. Private to log-merger/.
//
// A measurement is two clocks at one instant, known to half of its round trip. Two of a pair of
// clocks make a line, which is good for as much as they are, and a little more in between, since
// the rate of a quartz is not quite constant; outside of them the error grows with what it lets
// open of the rate. One alone leaves all of the rate open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace uctrace::merge {

// Two clocks of computers run apart by less than this: each is within 50 ppm of what it should be.
inline constexpr double kLargestRate = 100e-6;
// By how much the rate of a clock against another changes while a job runs: a few degrees.
inline constexpr double kRateChange = 0.1e-6;

// Two clocks, by their numbers in the job, at one instant.
struct ClockMeasurement {
  std::size_t own = 0, peer = 0;
  std::int64_t own_ns = 0, peer_ns = 0;
  std::int64_t round_trip_ns = 0;  // > 0
  std::uint32_t round_trips = 0;

  double error_ns() const { return static_cast<double>(round_trip_ns) / 2; }
};

// What is known of one pair of clocks, over the time of the reference. One measurement: begin =
// end.
struct ClockStretch {
  std::int64_t begin_ns = 0, end_ns = 0;
  double begin_error_ns = 0, end_error_ns = 0;
  double off_line_ns = 0;  // the largest distance of other measurements from the line

  // The most that the line through them is off at a time of the reference.
  double error_at(std::int64_t reference_ns) const;
};

// A clock on the reference.
struct PlacedClock {
  log::JobLine line;                    // from its own time to that of the reference
  std::vector<ClockStretch> stretches;  // from it to the reference; none: it is the reference
  std::uint64_t measurements = 0;       // of the first stretch, as are the others here
  std::uint64_t round_trips = 0;
  std::int64_t round_trip_ns = 0;  // the longest of those that the line goes by
  bool drift_known = true;

  double error_at(std::int64_t reference_ns) const;
};

// By number of the clock; nothing where no measurements lead to it.
std::vector<std::optional<PlacedClock>> place_clocks(
    std::size_t clocks, std::size_t reference, const std::vector<ClockMeasurement>& measurements);

}  // namespace uctrace::merge
