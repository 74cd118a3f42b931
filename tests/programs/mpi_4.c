// Compiles where an MPI has partitioned communication and sessions, whatever version it calls itself.
#include <mpi.h>

void use(void* function);

int main(void) {
  use((void*)MPI_Psend_init);
  use((void*)MPI_Session_init);
}
