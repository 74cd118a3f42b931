// Latencies of messages, and the latency classes used in sums of messages.
//
// The latency of a message is the time from the later of the start of its send and the post of its
// receive until its arrival; for a one-sided operation, from its start to its end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "log-merger/model/durations.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

// Below 32 ns a class is one nanosecond wide, above that 1/32 of a power of two.
inline constexpr unsigned kLatencyBits = 5;

inline std::uint16_t latency_class(std::uint64_t ns) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << kLatencyBits;
  if (ns < kExact) return static_cast<std::uint16_t>(ns);
  const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
  const std::uint64_t part = (ns >> (power - kLatencyBits)) & (kExact - 1);
  return static_cast<std::uint16_t>((power - kLatencyBits + 1) * kExact + part);
}

// The middle of a class: within 1/64 of each of its latencies.
inline double latency_of(std::uint16_t of_class) {
  constexpr unsigned kExact = 1u << kLatencyBits;
  if (of_class < kExact) return of_class;
  const unsigned power = of_class / kExact - 1;
  const double begin = kExact + of_class % kExact;
  const double width = static_cast<double>(std::uint64_t{1} << std::min(power, 63u));
  return begin * width + (width - 1) / 2;
}

// nullopt: a time is not known, for example because it was not matched.
inline std::optional<std::uint64_t> latency_of(const Message& message) {
  if (message.t_start_ns < 0 || message.t_end_ns < 0) return std::nullopt;
  const std::int64_t begin = std::max(message.t_start_ns, message.t_posted_recv_ns);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, message.t_end_ns - begin));
}

// From the start of a message to its end, including a wait for its receive. If clock errors put the
// end before the start, it is 0. nullopt: one of the two is not known.
inline std::optional<std::uint64_t> time_taken(const Message& message) {
  if (message.t_start_ns < 0 || message.t_end_ns < 0) return std::nullopt;
  return static_cast<std::uint64_t>(duration_ns(message.t_start_ns, message.t_end_ns));
}

}  // namespace uctrace
