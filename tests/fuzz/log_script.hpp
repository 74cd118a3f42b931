// What the fuzzers feed: a script of steps, each of which adds to or damages one of several logs.
// The bytes of a log themselves would be a poor input: it takes 128 KiB, nearly all zeros, and
// hardly any change of them gets past the magic numbers and sizes. Every script is valid; a whole
// log is the script without its steps of damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::fuzz {

using Script = std::span<const std::uint8_t>;
using LogBytes = std::vector<std::byte>;

// How large the logs become, which is what an execution costs. `trim`: without the unused end of
// the last chunk.
struct LogLimits {
  std::size_t logs, chunks;
  bool trim;
};
inline constexpr LogLimits kOneSmallLog{1, 2, true};
inline constexpr LogLimits kWholeJob{4, 3, false};

// Valid until the next call.
std::span<const LogBytes> logs_of(Script script, const LogLimits& limits);

}  // namespace uctrace::fuzz
