// The critical path of a job: the chain of work and MPI calls that determines its length. It is
// followed backward from the last process to reach MPI_Finalize. If a call waited for another
// process, the path continues in that process before the call that ended the wait (D. Boehme, F.
// Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Scalable critical-path based performance
// analysis", IPDPS 2012).
//
// The path has no gaps and no overlaps: its parts add up to the time from its end back to where
// its first process left MPI_Init.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// Needs Run::mpi_calls, sorted by process, thread and time, Run::waits, sorted by call, and
// Run::rank_times. The largest parts come first. Its cost is proportional to the calls on the path.
std::vector<CriticalPart> critical_path(const Run& run);

}  // namespace uctrace::merge
