// The origins that MPI_Win_post notifies. MPI libraries do that with a UCP operation to each
// process of the group, except for processes of the same host that they reach in another way.
// Private to log-merger/.
#pragma once

#include "log-merger/job/operations.hpp"

namespace uctrace::merge {

// For an operation of an MPI_Win_post: whether it notifies an origin, `op.peer_process`. Operations
// in a message handler answer that message.
inline bool tells_an_origin(const UcpOp& op) {
  return op.starts_message() && op.arrival == 0 && op.accepted() && !op.tool;
}

}  // namespace uctrace::merge
