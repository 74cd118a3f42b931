// Whom MPI_Win_post tells that they may access its window. MPI libraries do that by an operation of
// UCP to each process of the group; but one that reaches the processes of its own host in another
// way tells those without. Private to log-merger/.
#pragma once

#include "log-merger/job/operations.hpp"

namespace uctrace::merge {

// Of an operation that an MPI_Win_post asked for: whether it is to an origin, `op.peer_process`.
// What is called in the handler of a message answers that one.
inline bool tells_an_origin(const UcpOp& op) {
  return op.starts_message() && op.arrival == 0 && op.accepted() && !op.tool;
}

}  // namespace uctrace::merge
