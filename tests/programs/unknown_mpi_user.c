// Calls an unknown MPI library (unknown_mpi.c).
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Send(const void* buffer, int count, long type, int to, int tag, long comm);
int MPI_Finalize(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  printf("it said %d\n", MPI_Send("something", 9, 0x123456789abcdef, 3, 4, -5));
  return MPI_Finalize();
}
