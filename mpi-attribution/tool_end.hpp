// What MPI_Finalize does for who asked for a profile at the end through MPI_T.
#pragma once

namespace uctrace::mpi {

// Before the call. Nothing is done unless pml_monitoring_enable_output is set.
void write_last_profile();

}  // namespace uctrace::mpi
