// The clocks of a host. True time is nanoseconds since the job began, as the first host's own
// monotonic clock counts them; every other clock is off by an offset and a rate.
#pragma once

#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::tracegen {

struct HostClock {
  std::int64_t offset_ns = 0;  // of the monotonic clock when the job began
  std::int64_t drift_ppb = 0;  // of its rate
  std::int64_t wall_ns = 0;    // of the wall clock when the job began

  constexpr std::int64_t monotonic_ns(std::int64_t true_ns) const {
    return offset_ns + true_ns + true_ns * drift_ppb / 1'000'000'000;
  }
  // A counter of 2.6 GHz that runs with the monotonic clock.
  constexpr std::uint64_t tick(std::int64_t true_ns) const {
    return static_cast<std::uint64_t>(monotonic_ns(true_ns)) * 13 / 5;
  }
  // Of a tick, within a few nanoseconds.
  constexpr std::int64_t true_ns(std::uint64_t tick) const {
    const std::int64_t since =
        static_cast<std::int64_t>(tick / 13 * 5 + tick % 13 * 5 / 13) - offset_ns;
    return since - since * drift_ppb / 1'000'000'000;
  }
  constexpr log::Anchor anchor(std::int64_t true_ns) const {
    const std::int64_t monotonic = monotonic_ns(true_ns);
    return {tick(true_ns), static_cast<std::uint64_t>(monotonic),
            static_cast<std::uint64_t>(wall_ns + monotonic - offset_ns)};
  }
};

}  // namespace uctrace::tracegen
