// Monitoring through MPI_T: starts and stops the counts of handles, writes profiles. Called with a
// ToolLock held. Errors are those of MPI_T, 0 is MPI_SUCCESS.
#pragma once

#include "mpi-attribution/tool_handles.hpp"

namespace uctrace::mpi {

// A new handle. `object` is the address of an MPI handle.
int bind_variable(const PerformanceVariable& variable, Word session, Word object,
                  ToolHandle** made);

int start_variable(ToolHandle& handle);
int stop_variable(ToolHandle& handle);
int read_variable(ToolHandle& handle, void* out);
int write_variable(ToolHandle& handle, const void* in);
int reset_variable(ToolHandle& handle);
int read_and_reset_variable(ToolHandle& handle, void* out);

void read_control(int control, void* out);
int write_control(int control, const void* in);

}  // namespace uctrace::mpi
