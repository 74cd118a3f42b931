// What the command and the recorder agree on about uctrace's threads.
#pragma once

#include <cstdint>

namespace uctrace::log {

// How many of them may pack in one process (UCTRACE_HELPERS, `record --helpers`).
inline constexpr std::uint32_t kMostHelpers = 8;

}  // namespace uctrace::log
