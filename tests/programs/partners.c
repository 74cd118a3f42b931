// Each rank exchanges MUCH with the rank half the job away, and LESS with its neighbour, in blocks
// of 1 MiB. usage: partners MUCH LESS
#include "common.h"

enum { kBlock = 1 << 20 };

static void exchange(char* buffer, int with, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    MPI_Sendrecv(buffer, kBlock, MPI_CHAR, with, i, buffer + kBlock, kBlock, MPI_CHAR, with, i,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 3 || ranks % 2 != 0) fail("usage: partners MUCH LESS, on an even number of ranks");
  const int much = atoi(arguments[1]), less = atoi(arguments[2]);
  char* buffer = allocate(2 * kBlock);
  exchange(buffer, (rank + ranks / 2) % ranks, much);
  exchange(buffer, rank ^ 1, less);
  free(buffer);
  MPI_Finalize();
  return 0;
}
