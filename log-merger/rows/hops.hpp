// The path of a message: its UCT operations, grouped by similarity. Private to log-merger/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/rows/new_texts.hpp"

namespace uctrace::merge {

// Appends the hops of a message to `hops`, in path order; after find_payload(). `initiator` began
// it; nullptr: not in the logs.
void lay_out_hops(Job& job, NewTexts& texts, MessageIndex message, const UcpOp* initiator,
                  std::vector<Hop>& hops);

// The operation of a hop without UCT operations: the receiver maps the sender's memory.
inline constexpr const char* kCpuCopy = "cpu_copy";

}  // namespace uctrace::merge
