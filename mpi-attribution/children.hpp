// How many communicators were made from each communicator of this process. The count tells the
// children of one parent apart, and is the same in all processes that took part in making them.
#pragma once

#include <cstdint>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// Who calls a constructor. A constructor called only by the new members must not change the count
// shared by all processes of the parent, so each kind has its own count.
enum class CalledBy : std::uint8_t { parent = 0, members = 1 };

// 1, 2, ... for the communicators made from `parent`; 0 if there is no memory to count. Call it
// also in a process that did not become a member. Any thread; may allocate.
std::uint32_t next_ordinal(Handle parent, CalledBy called_by);

// `handle` ended, or names a new communicator now.
void forget_children(Handle handle);

}  // namespace uctrace::mpi
