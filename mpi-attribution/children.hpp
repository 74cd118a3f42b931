// How many communicators were made from each communicator of this process. The count tells those
// of one parent apart, and is equal in all processes that took part in making them.
#pragma once

#include <cstdint>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// Who calls a constructor. The members of a new communicator alone do not move the count that all
// processes of the parent share, so each kind has a count of its own.
enum class CalledBy : std::uint8_t { parent = 0, members = 1 };

// 1, 2, ... for the communicators made from `parent`; 0 if there is no memory to count. To be
// called for a process that did not become a member as well. Any thread; may allocate.
std::uint32_t next_ordinal(Handle parent, CalledBy called_by);

// `handle` ended, or names a new communicator now.
void forget_children(Handle handle);

}  // namespace uctrace::mpi
