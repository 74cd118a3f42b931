// Which way the most common MPI calls take (UctraceWay): decided anew whenever that may change.
#pragma once

namespace uctrace::mpi {

// On any thread, and in a signal handler.
void choose_way();

}  // namespace uctrace::mpi
