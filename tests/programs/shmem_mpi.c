// OpenSHMEM and MPI in one program: puts between neighbours, and messages the other way round.

#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

enum { kRounds = 5, kLongs = 1000 };
static long came[kLongs];

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  shmem_init();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank != shmem_my_pe() || size != shmem_n_pes()) return 1;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  long mine[kLongs], received[kLongs];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kLongs; ++i) mine[i] = rank + round + i;
    shmem_long_put(came, mine, kLongs, next);
    shmem_barrier_all();
    MPI_Sendrecv(came, kLongs, MPI_LONG, before, 7, received, kLongs, MPI_LONG, next, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < kLongs; ++i) {
      if (received[i] != mine[i]) return 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("shmem_mpi: %d processes are right\n", size);
  fflush(stdout);
  shmem_finalize();
  int finalized;  // Open MPI ends both at once
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  return 0;
}
