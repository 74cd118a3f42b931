// Between which memories the operations of a message moved its data, and the place of each along
// the path from source to destination. Private to log-merger/.
#pragma once

#include <span>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Sets UctOp::from, to and hop of `ops`, which moved `message`; after find_payload().
void find_ways(Job& job, const Message& message, const UcpOp* initiator,
               std::span<const UctIndex> ops);

// The same for an operation without a message, as far as the operation itself tells.
void find_way_alone(Job& job, UctOp& op);

}  // namespace uctrace::merge
