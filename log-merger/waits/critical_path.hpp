// The critical path of a job: the chain of work and MPI calls that its length comes from. It is
// gone backwards from the process that came last to MPI_Finalize. Where a call waited for another
// process, the path goes on at what that process did before the call that ended the wait
// (D. Boehme, F. Wolf, B. R. de Supinski, M. Schulz, M. Geimer, "Scalable critical-path based
// performance analysis", IPDPS 2012).
//
// The path has no gaps and no overlaps: its parts add up to the time from its end back to where
// its first process left MPI_Init.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// Needs Run::mpi_calls, by process and of each thread by time, Run::waits, by call, and
// Run::rank_times. The greatest parts come first. Its cost is that of the calls on the path.
std::vector<CriticalPart> critical_path(const Run& run);

}  // namespace uctrace::merge
