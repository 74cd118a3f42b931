// The path of a message: its UCT operations in groups of those that are alike. Private to
// log-merger/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/rows/new_texts.hpp"

namespace uctrace::merge {

// Appends the hops of a message to `hops`, in the order of its way; after find_payload().
// `initiator` began it; nullptr: it is not in the logs.
void lay_out_hops(Job& job, NewTexts& texts, MessageIndex message, const UcpOp* initiator,
                  std::vector<Hop>& hops);

// The operation of a hop that no UCT operation made: of a receiver that maps the sender's memory.
inline constexpr const char* kCpuCopy = "cpu_copy";

}  // namespace uctrace::merge
