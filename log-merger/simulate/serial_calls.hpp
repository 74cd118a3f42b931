// Calls that are taken to be made while the other threads of a rank wait. Private to the
// simulation.
#pragma once

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/simulate/recorded_calls.hpp"

namespace uctrace {

// Sets replay::Call::serial of ranks of which several threads call MPI, and counts.
//
// A heuristic: that threads are made, joined or wait for each other is not recorded. A program
// whose threads do the same work, as in a parallel region of OpenMP, makes other calls outside of
// it than inside, and outside of it one thread alone runs. So a call is serial if it is
//
// * MPI_Init, or MPI_Finalize, which MPI has called by one thread alone;
// * made by the thread that called MPI_Init, and no other thread of the process makes any of that
//   function at that call site (of that function, where call sites are not known);
// * a collective one, and several threads of the process make collective calls over its
//   communicator: MPI does not let these overlap, so the threads wait for each other somehow (MPI
//   3.1, section 12.4.2).
Threads mark_serial_calls(const RowSource& source, RecordedCalls& recorded);

}  // namespace uctrace
