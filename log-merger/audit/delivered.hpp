// Messages whose records prove that they arrived completely. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Delivered completely and matched: the messages of the payload identity.
bool delivered(const Job& job, const Message& message, const UcpOp& send);

}  // namespace uctrace::merge
