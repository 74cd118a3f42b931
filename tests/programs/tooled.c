// Messages around the ring of ranks and sums, for a tool to count. Any number of ranks.
#include "common.h"

enum { kSends = 7, kSums = 3, kInts = 100 };

int main(int argc, char** argv) {
  int rank, size, out[kInts] = {0}, in[kInts], sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kSends; ++i) {
    MPI_Irecv(in, kInts, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
    MPI_Send(out, kInts, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < kSums; ++i) {
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) fail("rank %d: the sum is %d", rank, sum);
  }
  MPI_Finalize();
  return 0;
}
