// Measures the clocks of the hosts of a job against each other: once MPI has started and before it
// ends. Their times can then be compared with an error that is known
// (log-merger/clock_offsets.hpp).
//
// The first process on each clock is its leader; leaders send short messages to and fro. That
// happens on a communicator of the tool's own, which every process of MPI_COMM_WORLD has to help to
// make: so it is only done where all are known to be recorded, and where there may be more than one
// clock.
#pragma once

namespace uctrace::mpi {

// The last thing within MPI_Init, in the guard of its call. Takes 0.1 s at most once all processes
// have come here, and waits a second at most for that.
void measure_clocks_at_start();

// The first thing within MPI_Finalize: never at an exit or abort. Waits two seconds at most for
// others.
void measure_clocks_at_end();

}  // namespace uctrace::mpi
