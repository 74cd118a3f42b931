// Rank 0 sends rank 1 more than 2 GiB in single calls: several elements of a derived datatype, and
// one element whose size does not fit an int.
//
//     big [TRUTH-PREFIX]

#define _GNU_SOURCE
#include "common.h"
#include "folded.h"

enum { kTag = 3, kElements = 3 };

static void exchange(int rank, unsigned char* data, int count, MPI_Datatype type) {
  MPI_Count bytes;
  MPI_Type_size_x(type, &bytes);
  bytes *= count;
  if (rank == 0) {
    MPI_Send(data, count, type, 1, kTag, MPI_COMM_WORLD);
    write_truth((struct sent){.src = 0,
                              .dst = 1,
                              .bytes = (size_t)bytes,
                              .tag = kTag,
                              .function = "MPI_Send",
                              .comm = "MPI_COMM_WORLD"});
  } else if (rank == 1) {
    memset(data, 0, kFoldBytes);
    MPI_Recv(data, count, type, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is_folded(data, 1)) fail("wrong contents, %lld bytes", (long long)bytes);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  MPI_Datatype block, element, whole;
  MPI_Type_contiguous(kFoldBytes, MPI_CHAR, &block);
  MPI_Type_contiguous(48, block, &element);  // 768 MiB
  MPI_Type_contiguous(kElements, element, &whole);
  MPI_Type_commit(&element);
  MPI_Type_commit(&whole);
  unsigned char* data = rank < 2 ? make_folded((size_t)kElements * 48 * kFoldBytes) : NULL;
  if (rank < 2 && data == NULL) fail("mapping memory");
  if (rank == 0) fill_folded(data, 1);
  exchange(rank, data, kElements, element);
  exchange(rank, data, 1, whole);
  MPI_Type_free(&whole);
  MPI_Type_free(&element);
  MPI_Type_free(&block);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("big: everything is right\n");
  close_truth();
  MPI_Finalize();
  return 0;
}
