// A plug-in that uses MPI: loaded by a program without MPI in its own scope. Built twice, so that
// one can replace the other: the second one is MPI_PLUGIN_OTHER.
//
// call_mpi(turn): turn 0 starts MPI, a negative one ends it; each other exchanges a message around
// the ring of ranks, with the turn as tag, and tells where: "TURN FUNCTION LINE".
#include <mpi.h>
#include <stdio.h>

static int rank, size, got;

// The line of the call is this one's.
#define EXCHANGE(turn)                                                         \
  (rank == 0 ? (void)printf("%d %s %d\n", turn, __func__, __LINE__) : (void)0, \
   MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, turn, &got, 1, MPI_INT,  \
                (rank + size - 1) % size, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE))

#ifndef MPI_PLUGIN_OTHER
__attribute__((noinline)) static int exchange_in_one(int turn) {
  EXCHANGE(turn);
  return got;
}
#define exchange exchange_in_one
#else
__attribute__((noinline)) static int exchange_in_other(int turn) {
  EXCHANGE(turn);
  return got;
}
#define exchange exchange_in_other
#endif

__attribute__((visibility("default"))) int call_mpi(int turn) {
  if (turn < 0) return MPI_Finalize();
  if (turn == 0) return MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {  // the same in both, if one is loaded at the other's address
    fprintf(stderr, "plug-in of turn %d at %p\n", turn, (void*)call_mpi);
  }
  return exchange(turn) == (rank + size - 1) % size ? 0 : 1;
}
