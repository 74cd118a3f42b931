// Measures the clocks of the hosts of a job against each other: once MPI has started and before it
// ends. Their times can then be compared with an error that is known
// (log-merger/clocks/clock_offsets.hpp).
//
// The first process on each clock is its leader; leaders send short messages to and fro. That
// happens on a communicator of the tool's own, which every process of MPI_COMM_WORLD has to help to
// make: so it is only done where all are known to be recorded, and where there may be more than one
// clock.
#pragma once

namespace uctrace::mpi {

// The last thing within MPI_Init, in the guard of its call. Waits a second at most for all
// processes to come here, and then takes about 0.1 s where all answer; one that does not costs
// those who are to be measured behind it two seconds each.
void measure_clocks_at_start();

// The first thing within MPI_Finalize: never at an exit or abort. Waits two seconds at most for
// others.
void measure_clocks_at_end();

}  // namespace uctrace::mpi
