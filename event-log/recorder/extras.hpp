// What some jobs want beside the fixed part of an operation's record: its call stack, the memory of
// its addresses. One word of the process says so for all of them, so that an operation of a job
// that wants none pays one load and one branch.
#pragma once

#include <cstdint>

#include "event-log/recorder/own.hpp"

namespace uctrace::log {

// Stacks of all operations, too, not only of what the program calls itself: kWantAllStacks.
inline constexpr std::uint8_t kWantStacks = 1, kWantAllStacks = 2, kWantMemory = 4;

namespace detail {
UCTRACE_OWN extern constinit std::uint8_t wanted_extras;
}  // namespace detail

// Any of these. A plain load, which the processor tests where it lies: the word only ever gains
// bits, and a thread that sees one late does as before until then. ThreadSanitizer is told that
// this is meant.
inline bool wants(std::uint8_t extras) {
#if defined(__SANITIZE_THREAD__)
  const std::uint8_t wanted = __atomic_load_n(&detail::wanted_extras, __ATOMIC_RELAXED);
#else
  const std::uint8_t wanted = detail::wanted_extras;
#endif
  return __builtin_expect((wanted & extras) != 0, 0);
}

void want(std::uint8_t extras);

// The words of a record that stand behind all others. Only what is wanted is set.
struct ExtraWords {
  std::uint64_t words[2];
  bool has_memory;  // the first one is of memory
};

}  // namespace uctrace::log
