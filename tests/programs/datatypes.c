// Messages around the ring of ranks, each of a datatype constructed in another way; its properties
// are written as truth. They are received as integers. Any number of ranks.
//
//     datatypes TRUTH-PREFIX

#include "common.h"

enum { kInts = 64, kMostTries = 1000 };

static int rank, size, tag;
static int out[kInts], in[kInts];

typedef struct {
  const char *combiner, *name;  // NULL: its name depends on the library
  int size, extent, contiguous;
} Known;

static void exchange(MPI_Datatype type, Known known) {
  fprintf(truth_file,
          "{\"tag\":%d,\"combiner\":\"%s\",\"size\":%d,\"extent\":%d,\"contiguous\":%d,"
          "\"name\":\"%s\"}\n",
          ++tag, known.combiner, known.size, known.extent, known.contiguous,
          known.name != NULL ? known.name : "?");
  MPI_Sendrecv(out, 1, type, (rank + 1) % size, tag, in, known.size / 4, MPI_INT,
               (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_and_free(MPI_Datatype type, Known known) {
  MPI_Type_commit(&type);
  exchange(type, known);
  exchange(type, known);
  MPI_Type_free(&type);
}

static void made_in_all_ways(void) {
  const int lengths[] = {1, 3}, places[] = {5, 0}, whole[] = {4, 6}, part[] = {2, 3}, at[] = {1, 2};
  const MPI_Aint offsets[] = {0, 20}, gaps[] = {16, 0};
  const MPI_Datatype kinds[] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype type, other;
  exchange(MPI_DOUBLE, (Known){"named", "MPI_DOUBLE", 8, 8, 1});
  MPI_Type_contiguous(3, MPI_INT, &type);
  exchange_and_free(type, (Known){"contiguous", NULL, 12, 12, 1});
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  exchange_and_free(type, (Known){"vector", NULL, 12, 20, 0});
  MPI_Type_create_hvector(3, 1, 12, MPI_INT, &type);
  exchange_and_free(type, (Known){"hvector", NULL, 12, 28, 0});
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  exchange_and_free(type, (Known){"indexed", NULL, 16, 24, 0});
  MPI_Type_create_hindexed(2, lengths, gaps, MPI_INT, &type);
  exchange_and_free(type, (Known){"hindexed", NULL, 16, 20, 0});
  MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
  exchange_and_free(type, (Known){"indexed_block", NULL, 16, 28, 0});
  MPI_Type_create_struct(2, lengths, offsets, kinds, &type);
  exchange_and_free(type, (Known){"struct", NULL, 16, 32, 0});
  MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_INT, &type);
  exchange_and_free(type, (Known){"subarray", NULL, 24, 96, 0});
  MPI_Type_create_resized(MPI_INT, 0, 64, &type);
  exchange_and_free(type, (Known){"resized", NULL, 4, 64, 0});
  MPI_Type_vector(2, 1, 3, MPI_INT, &other);
  MPI_Type_dup(other, &type);
  MPI_Type_free(&other);
  exchange_and_free(type, (Known){"dup", NULL, 8, 16, 0});
  MPI_Type_vector(2, 2, 2, MPI_INT, &type);
  MPI_Type_set_name(type, "a row of \"two\"");
  exchange_and_free(type, (Known){"vector", "a row of \\\"two\\\"", 16, 16, 1});
}

// The handle of a freed datatype names another one: twice, and the last one is in use meanwhile.
static void handles_are_used_again(void) {
  MPI_Datatype before, type, others[kMostTries];
  MPI_Type_vector(4, 1, 2, MPI_INT, &before);
  exchange_and_free(before, (Known){"vector", NULL, 16, 28, 0});
  int tries = 0;
  do {
    MPI_Type_contiguous(5, MPI_INT, &type);
    others[tries++] = type;
  } while (memcmp(&type, &before, sizeof type) != 0 && tries < kMostTries);
  if (tries == kMostTries) fail("rank %d: no handle of a datatype is used again", rank);
  exchange_and_free(type, (Known){"contiguous", NULL, 20, 20, 1});
  for (int i = 0; i + 1 < tries; ++i) MPI_Type_free(&others[i]);
}

// Requests keep a datatype alive that is freed before they end.
static void freed_while_in_use(void) {
  MPI_Request requests[2];
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  fprintf(truth_file,
          "{\"tag\":%d,\"combiner\":\"vector\",\"size\":8,\"extent\":20,\"contiguous\":0,"
          "\"name\":\"?\"}\n",
          ++tag);
  MPI_Irecv(in, 2, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 1, type, (rank + 1) % size, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&type);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

#ifdef MPICH
// Counts beyond an int, which MPI_Type_get_envelope does not support.
static void made_with_large_counts(void) {
  MPI_Datatype type;
  MPI_Type_contiguous_c(3, MPI_INT, &type);
  exchange_and_free(type, (Known){"contiguous", NULL, 12, 12, 1});
  MPI_Type_vector_c(3, 1, 2, MPI_INT, &type);
  exchange_and_free(type, (Known){"vector", NULL, 12, 20, 0});
}
#else
static void made_with_large_counts(void) {}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  if (truth_file == NULL) fail("usage: datatypes TRUTH-PREFIX");
  made_in_all_ways();
  handles_are_used_again();
  freed_while_in_use();
  made_with_large_counts();
  close_truth();
  MPI_Finalize();
  return 0;
}
