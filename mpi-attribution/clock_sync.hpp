// Measures the clocks of the hosts of a job against each other: once MPI has started and before it
// ends. Their times can then be compared with a known error (log-merger/clocks/clock_offsets.hpp).
//
// The first process on each clock is its leader; leaders exchange short messages. They use
// uctrace's own communicator, and all processes of MPI_COMM_WORLD must take part in making it. So
// clocks are measured only if all processes are known to be recorded and there may be more than one
// clock.
#pragma once

namespace uctrace::mpi {

// The last step inside MPI_Init, within the guard of its call. Waits a second at most for all
// processes, and then takes about 0.1 s if all answer. A leader that does not answer costs the
// leaders after it two seconds each.
void measure_clocks_at_start();

// The first step inside MPI_Finalize; never at an exit or abort. Waits for others two seconds at
// most.
void measure_clocks_at_end();

}  // namespace uctrace::mpi
