// Profiles in the format of Open MPI's monitoring, written by the process itself: when a tool
// flushes through MPI_T, and when MPI_Finalize is called if a tool asked for that. What MPI sent
// for itself is not in them: which rank a worker is of, only who reads the files of all processes
// knows (`uctrace counters --prof`).
#pragma once

#include "mpi-attribution/tool_values.hpp"

namespace uctrace::mpi {

// To PREFIX.RANK.prof. `rows` are sorted. False, with errno: the file cannot be written, or the
// rank is not known.
bool write_profile(const char* prefix, const CounterCopy& rows);

// To standard output (1) or standard error (2).
bool write_profile(int descriptor, const CounterCopy& rows);

}  // namespace uctrace::mpi
