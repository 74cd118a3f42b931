// How long MPI_Init and MPI_Finalize take on rank 0, with a barrier between them, so that some
// endpoints are made.
#include <mpi.h>

#include "measure.h"

int main(int argc, char** argv) {
  const uint64_t start = clock_ns(CLOCK_MONOTONIC);
  MPI_Init(&argc, &argv);
  const uint64_t initialized = clock_ns(CLOCK_MONOTONIC);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t connected = clock_ns(CLOCK_MONOTONIC);
  MPI_Finalize();
  const uint64_t end = clock_ns(CLOCK_MONOTONIC);
  if (rank == 0) {
    printf("{\"init_ns\":%llu,\"finalize_ns\":%llu,\"total_ns\":%llu}\n",
           (unsigned long long)(initialized - start), (unsigned long long)(end - connected),
           (unsigned long long)(end - start));
  }
  return 0;
}
