// The sample of a communicator-centric profile: 30 sums over all processes, then 100 in each half
// of them, of 256 doubles.

#include "common.h"

enum { kOnAll = 30, kOnHalves = 100, kDoubles = 256 };

static void add_up(int times, MPI_Comm comm) {
  double mine[kDoubles], sums[kDoubles];
  int size;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < kDoubles; ++i) mine[i] = i;
  for (int i = 0; i < times; ++i) {
    MPI_Allreduce(mine, sums, kDoubles, MPI_DOUBLE, MPI_SUM, comm);
    if (sums[kDoubles - 1] != (kDoubles - 1.0) * size) fail("a wrong sum");
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
  add_up(kOnAll, MPI_COMM_WORLD);
  add_up(kOnHalves, half);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
