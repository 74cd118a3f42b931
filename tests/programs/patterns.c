// Typical communication patterns, small and with varying sizes: `patterns ring`, `patterns
// stencil`, `patterns all-to-all`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, MOST = 1 << 18 };
static char out[MOST], in[MOST];
static int rank, size;

// To the next rank, from the one before; sizes from 0 on, also sizes that are announced first.
static void ring(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int round = 0; round < ROUNDS; ++round) {
    const int bytes = round == 0 ? 0 : 1 << (4 * round);
    MPI_Sendrecv(out, bytes, MPI_BYTE, next, round, in, bytes, MPI_BYTE, previous, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

// Of a grid whose columns are not contiguous in memory; nobody is beyond its ends.
static void stencil(void) {
  int dims[2] = {0, 0}, periods[2] = {0, 0}, neighbours[4];
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
  MPI_Datatype column;
  MPI_Type_vector(100, 1, 10, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request requests[8];
    for (int side = 0; side < 4; ++side) {
      const int count = side < 2 ? 50 + round : 1;
      const MPI_Datatype type = side < 2 ? MPI_DOUBLE : column;
      MPI_Irecv(in + side * 16384, count, type, neighbours[side], 1, grid, &requests[2 * side]);
      MPI_Isend(out + side * 16384, count, type, neighbours[side], 1, grid, &requests[2 * side + 1]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
}

// By point-to-point messages, a size for each pair; then by the collective call.
static void all_to_all(void) {
  MPI_Request requests[2];
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    MPI_Irecv(in, 1000 * (from + 1), MPI_BYTE, from, distance, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1000 * (rank + 1), MPI_BYTE, to, distance, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* pattern = argc > 1 ? argv[1] : "";
  if (strcmp(pattern, "ring") == 0) {
    ring();
  } else if (strcmp(pattern, "stencil") == 0) {
    stencil();
  } else if (strcmp(pattern, "all-to-all") == 0) {
    all_to_all();
  } else {
    fprintf(stderr, "usage: patterns ring|stencil|all-to-all\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
