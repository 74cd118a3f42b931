// Profiles in the format of Open MPI's monitoring, written by the process itself: when a tool
// flushes through MPI_T, and at MPI_Finalize if a tool asked for that. They lack MPI's internal
// messages: the rank of a worker is known only with the files of all processes (`uctrace counters
// --prof`).
#pragma once

#include "mpi-attribution/tool_values.hpp"

namespace uctrace::mpi {

// Writes PREFIX.RANK.prof. `rows` must be sorted. False, with errno: the file cannot be written, or
// the rank is not known.
bool write_profile(const char* prefix, const CounterCopy& rows);

// To standard output (1) or standard error (2).
bool write_profile(int descriptor, const CounterCopy& rows);

}  // namespace uctrace::mpi
