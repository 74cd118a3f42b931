// The input of the fuzzers: a script of steps, each of which adds to or damages one of several
// logs. The bytes of a log would be a poor input: 128 KiB, nearly all zeros, and hardly any change
// gets past the magic numbers and sizes. Every script is valid; without its damaging steps it
// yields an intact log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::fuzz {

using Script = std::span<const std::uint8_t>;
using LogBytes = std::vector<std::byte>;

// The size of the logs, which determines the cost of an execution. `trim`: without the unused end
// of the last chunk.
struct LogLimits {
  std::size_t logs, chunks;
  bool trim;
};
inline constexpr LogLimits kOneSmallLog{1, 2, true};
inline constexpr LogLimits kWholeJob{4, 3, false};

// Valid until the next call.
std::span<const LogBytes> logs_of(Script script, const LogLimits& limits);

}  // namespace uctrace::fuzz
