// Calls that are assumed to be made while the other threads of a rank wait. Private to the
// simulation.
#pragma once

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/simulate/recorded_calls.hpp"

namespace uctrace {

// Sets replay::Call::serial for ranks with several threads that call MPI, and counts.
//
// A heuristic: creation, joining and waiting of threads is not recorded. A program whose threads do
// the same work, as in an OpenMP parallel region, makes different calls outside than inside, and
// outside only one thread runs. So a call is serial if it is
//
// * MPI_Init, or MPI_Finalize, which only one thread may call;
// * made by the thread that called MPI_Init, and no other thread of the process makes any of that
//   function at that call site (of that function, if call sites are not known);
// * collective, and several threads of the process make collective calls over its communicator: MPI
//   does not allow these to overlap, so the threads must wait for each other (MPI 3.1, section
//   12.4.2).
Threads mark_serial_calls(const RowSource& source, RecordedCalls& recorded);

}  // namespace uctrace
