// From which memory to which the operations of a message moved its data, and where along the way
// from its source to its destination. Private to log-merger/.
#pragma once

#include <span>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Sets UctOp::from, to and hop of `ops`, which moved `message`; after find_payload().
void find_ways(Job& job, const Message& message, const UcpOp* initiator,
               std::span<const UctIndex> ops);

// The same of an operation that moved no message, as far as it tells by itself.
void find_way_alone(Job& job, UctOp& op);

}  // namespace uctrace::merge
