// Writes the profile that a tool requested through MPI_T for the time of MPI_Finalize.
#pragma once

namespace uctrace::mpi {

// Before the call. Does nothing unless pml_monitoring_enable_output is set.
void write_last_profile();

}  // namespace uctrace::mpi
