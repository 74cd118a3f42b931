// The numbers of this process's stacks that are in the log.
#pragma once

#include <cstdint>
#include <span>

#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

// The number of this stack; writes the stack to the log if it is new. Threads that unwind the same
// stack at the same time may write it twice. 0: there was no room for its record.
std::uint32_t number_of(log::Lane& lane, std::span<const std::uint64_t> addresses,
                        std::uint16_t flags, std::uint32_t generation);

// From here on there is a new log.
void forget_numbers();

}  // namespace uctrace::stacks
