// MPI_Allreduce of a vector of integers, checked against the closed form.
//
//     allreduce BYTES [REPETITIONS]

#include "common.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2) fail("usage: allreduce BYTES [REPETITIONS]");
  const int count = (int)(strtoul(argv[1], NULL, 0) / sizeof(int64_t));
  const int repetitions = argc > 2 ? atoi(argv[2]) : 1;

  int64_t* mine = allocate(sizeof *mine * (size_t)count);
  int64_t* sum = allocate(sizeof *sum * (size_t)count);
  for (int i = 0; i < count; ++i) mine[i] = (int64_t)i * (rank + 1);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    MPI_Allreduce(mine, sum, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      const int64_t expected = (int64_t)i * size * (size + 1) / 2;
      if (sum[i] != expected) fail("rank %d: element %d is wrong", rank, i);
    }
  }
  if (rank == 0) printf("allreduce: %d x %d elements are right\n", repetitions, count);
  free(mine);
  free(sum);
  MPI_Finalize();
  return 0;
}
