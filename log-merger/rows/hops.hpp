// The path of a message: its UCT operations in groups of those that are alike. Private to
// log-merger/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Appends the hops of a message that `ops` moved, in the order of its way; after find_payload().
// `initiator` began it; nullptr: it is not in the logs.
void lay_out_hops(Job& job, Index message, const UcpOp* initiator, const std::vector<Index>& ops);

}  // namespace uctrace::merge
