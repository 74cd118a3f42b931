// The functions that UCTRACE_LEAVE_OUT leaves unrecorded, by the name that the program called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/kinds.hpp"
#include "event-log/recorder/own.hpp"

namespace uctrace::ucp {

inline constexpr std::size_t kFunctionWords =
    (static_cast<std::size_t>(log::UcpFunction::kCount) + 63) / 64;
UCTRACE_OWN extern constinit std::uint64_t
    left_out_functions[kFunctionWords];  // bits by UcpFunction

UCTRACE_OWN extern constinit bool any_left_out;

// Call it before the first operation.
void find_left_out_functions();

// Cost: a load and a test.
inline bool left_out(log::UcpFunction function) {
  if (!any_left_out) [[likely]] {
    return false;
  }
  const auto number = static_cast<std::size_t>(function);
  return (left_out_functions[number / 64] >> number % 64 & 1) != 0;
}

}  // namespace uctrace::ucp
