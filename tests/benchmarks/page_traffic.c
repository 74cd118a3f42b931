// A job whose page is large: a stencil on a torus of ranks with messages of many sizes,
// collectives, and every tenth step an exchange of all with all.
//
//   page_traffic STEPS

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostBytes = 1 << 17, kNeighbours = 4 };

static char sent[kNeighbours][kMostBytes], received[kNeighbours][kMostBytes];

// Sizes on both sides of every limit between protocols.
static int bytes_of(int step, int direction) { return 8 << ((step + 3 * direction) % 14 + 1); }

static void exchange_halo(MPI_Comm torus, int step) {
  MPI_Request requests[2 * kNeighbours];
  int neighbours[kNeighbours];
  MPI_Cart_shift(torus, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(torus, 1, 1, &neighbours[2], &neighbours[3]);
  for (int i = 0; i < kNeighbours; ++i) {
    // What arrives from a neighbour was sent in the opposite direction.
    MPI_Irecv(received[i], bytes_of(step, i ^ 1), MPI_CHAR, neighbours[i], i ^ 1, torus,
              &requests[i]);
    MPI_Isend(sent[i], bytes_of(step, i), MPI_CHAR, neighbours[i], i, torus,
              &requests[kNeighbours + i]);
  }
  MPI_Waitall(2 * kNeighbours, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sides[2] = {0, 0}, wraps[2] = {1, 1};
  MPI_Dims_create(ranks, 2, sides);
  MPI_Comm torus;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, wraps, 0, &torus);
  MPI_Comm_set_name(torus, "torus");

  int* out = calloc((size_t)ranks * 64, sizeof *out);
  int* in = calloc((size_t)ranks * 64, sizeof *in);
  double residual = 1, sum;
  for (int step = 0; step < steps; ++step) {
    exchange_halo(torus, step);
    MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (step % 10 == 0) MPI_Alltoall(out, 64, MPI_INT, in, 64, MPI_INT, MPI_COMM_WORLD);
  }
  free(out);
  free(in);
  MPI_Comm_free(&torus);
  MPI_Finalize();
  return 0;
}
