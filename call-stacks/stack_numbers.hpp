// The stacks of this process that the log has already, each by its number.
#pragma once

#include <cstdint>
#include <span>

#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

// The number of this stack, which is written to the log if it is new. Threads that unwind the same
// one at the same time may write it twice. 0: there was no room for its record.
std::uint32_t number_of(log::Lane& lane, std::span<const std::uint64_t> addresses,
                        std::uint16_t flags, std::uint32_t generation);

// The log is another one from here on.
void forget_numbers();

}  // namespace uctrace::stacks
