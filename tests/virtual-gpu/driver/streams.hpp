// Work that is queued: it is done when the program waits for it, or has queried a later event often
// enough. So data that a program assumes complete too early is not there yet.
#pragma once

#include "api.hpp"
#include "memory.hpp"

namespace virtual_gpu {

// All that is queued, of the whole process: before memory goes, and for what waits for everything.
CUresult run_all_streams();

// That a stream was made in; of the default one the current context.
CUcontext context_of(CUstream stream);

// A copy, queued where the driver would: not if memory of the program takes part that is not
// pinned.
CUresult queue_copy(CUstream stream, Address to, Address from, std::size_t bytes);

}  // namespace virtual_gpu
