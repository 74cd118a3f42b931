// Another tool of MPI: counts sends and their bytes, as profilers do, and adds a message of its own
// to each sum. Loaded before or after uctrace, or linked into the program.
#include <mpi.h>
#include <stdio.h>

static int sends, sums;
static long bytes;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int size = 0;
  ++sends;
  PMPI_Type_size(type, &size);
  bytes += (long)count * size;
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++sums;
  PMPI_Barrier(comm);
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d: %d sends, %ld bytes, %d sums\n", rank, sends, bytes, sums);
  fflush(stdout);
  return PMPI_Finalize();
}
