// Messages of which the records prove that all of it came to its other end. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Delivered whole and matched: what the payload identity is about.
bool delivered(const Job& job, const Message& message, const UcpOp& send);

}  // namespace uctrace::merge
