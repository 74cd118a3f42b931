// Which UCP operations may belong to a request: if one call starts several, each has its own.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Whether an operation may belong to the request that `maker` made: direction, communicator, tag
// and peer agree, as far as known. For a completed receive, those of the message; for an open one,
// wildcards fit only a request that has them, too.
bool may_be_for(const Job& job, const UcpOp& op, const MpiCall& maker);

}  // namespace uctrace::merge
