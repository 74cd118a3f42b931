// What some jobs want besides the fixed part of an operation's record: its call stack, the memory
// of its addresses. One word of the process says so for all, so a job that wants none pays one load
// and one branch per operation.
#pragma once

#include <cstdint>

#include "event-log/recorder/own.hpp"

namespace uctrace::log {

// kWantAllStacks: stacks of all operations, not only of those that the program calls itself.
inline constexpr std::uint8_t kWantStacks = 1, kWantAllStacks = 2, kWantMemory = 4;

namespace detail {
UCTRACE_OWN extern constinit std::uint8_t wanted_extras;
}  // namespace detail

// Whether any of these is wanted. A plain load suffices: the word only gains bits, and a thread
// that sees one late goes on as before until then. ThreadSanitizer is told that this is intended.
inline bool wants(std::uint8_t extras) {
#if defined(__SANITIZE_THREAD__)
  const std::uint8_t wanted = __atomic_load_n(&detail::wanted_extras, __ATOMIC_RELAXED);
#else
  const std::uint8_t wanted = detail::wanted_extras;
#endif
  return __builtin_expect((wanted & extras) != 0, 0);
}

void want(std::uint8_t extras);

// The last words of a record. Only those that are wanted are set.
struct ExtraWords {
  std::uint64_t words[2];
  bool has_memory;  // the first one is of memory
};

}  // namespace uctrace::log
