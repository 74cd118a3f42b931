// An error handler of MPI that throws: the exception passes through MPI to the caller, which
// continues. Any number of ranks.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

namespace {

void throw_error(MPI_Comm*, int* code, ...) {
  throw std::runtime_error(*code != 0 ? "failed" : "");
}

int provoke(MPI_Comm comm, int nobody) {
  try {
    MPI_Send(&nobody, 1, MPI_INT, nobody, 9, comm);
  } catch (const std::runtime_error&) {
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kTimes = 3;
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Errhandler handler;
  int rank = 0, size = 0, caught = 0, sum = 0, got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(throw_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  for (int i = 0; i < kTimes; ++i) caught += provoke(comm, size);
  MPI_Allreduce(&caught, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size,
               1, comm, MPI_STATUS_IGNORE);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (rank == 0) std::printf("caught %d of %d\n", sum, kTimes * size);
  MPI_Finalize();
  return sum == kTimes * size && got == (rank + size - 1) % size ? 0 : 1;
}
