// Calls of libraries above UCX other than MPI: which UCP operations were posted within them, and
// their rows (docs/libraries.md). Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Sorts the calls of each process, and sets UcpOp::library_call and what calls sum up of it.
void link_library_calls(Job& job);

// Makes Run::library_calls. After the stacks were resolved, while MPI calls are known.
void add_library_calls(Job& job);

}  // namespace uctrace::merge
