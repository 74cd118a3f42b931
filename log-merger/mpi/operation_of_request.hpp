// Which operations of UCP may be for a request: of several that one call starts each has some.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Whether an operation may be for the request that `maker` made: its direction, communicator, tag
// and peer are the same, as far as they are known. Of a receive that took a message, those of the
// message; of an open one wildcards are only for a request that has them, too.
bool may_be_for(const Job& job, const UcpOp& op, const MpiCall& maker);

}  // namespace uctrace::merge
