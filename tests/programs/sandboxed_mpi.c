// Passes messages around a ring, enters a sandbox, and passes the same number again.
//
//     sandboxed_mpi KIND MESSAGES      a KIND of sandbox.h
#include <mpi.h>

#include "sandbox.h"

static void pass(int rank, int size, int messages) {
  for (int i = 0; i < messages; ++i) {
    int out = rank * messages + i, in = -1;
    const int left = (rank + size - 1) % size;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 5, &in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (in != left * messages + i) MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pass(rank, size, atoi(argv[2]));
  enter_sandbox(argv[1]);
  pass(rank, size, atoi(argv[2]));
  MPI_Finalize();
  if (rank == 0) printf("passed\n");
  return 0;
}
