// Messages around a ring, sent from places that the program prints: "TAG FUNCTION LINE" for each.
#include <stdio.h>

#include "common.h"

static int rank, ranks;

// A call on the line where this macro is used, and the expected entry of its call stack.
#define EXCHANGE(tag)                                                                        \
  (rank == 0 ? (void)printf("%d %s %d\n", tag, __func__, __LINE__) : (void)0, exchange(tag), \
   MPI_Wait(&receiving, MPI_STATUS_IGNORE));                                                 \
  __asm__ volatile("" ::: "memory") /* a last call that stays a call, not a jump */
#define exchange(tag)                                                                        \
  (MPI_Irecv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, &receiving), \
   MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD))

static int got;
static MPI_Request receiving;

__attribute__((noinline)) static void plainly(int tag) {
  EXCHANGE(tag);
  EXCHANGE(tag + 1);
}

__attribute__((always_inline)) static inline void inlined(int tag) { EXCHANGE(tag); }

__attribute__((noinline)) static void around_inlined(int tag) { inlined(tag); }

__attribute__((noinline)) static void recursive(int tag, int depth) {
  if (depth > 0) {
    recursive(tag, depth - 1);
    __asm__ volatile("" ::: "memory");
  } else {
    EXCHANGE(tag);
  }
}

__attribute__((noinline)) static void with_array(int tag, int length) {
  volatile char array[length];
  array[0] = 1;
  EXCHANGE(tag);
  array[length - 1] = array[0];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 20; ++i) plainly(1);
  around_inlined(10);
  for (int i = 0; i < 10; ++i) recursive(20, i % 5);
  for (int i = 0; i < 10; ++i) with_array(30, 100 + i % 3 * 64);
  MPI_Finalize();
  return 0;
}
