// Messages of 4 and 64 MiB: blocking, non-blocking, synchronous, strided, and collectives.
//
//     large [TRUTH-PREFIX [SECONDS]]
//
// It then computes for SECONDS: counters of network cards may lag behind what was sent.

#include "common.h"
#include "layout.h"

enum { kMiB = 1 << 20, kTag = 3 };

static int rank, size;

static void report(const char* function, int to, size_t bytes) {
  write_truth((struct sent){.src = rank,
                            .dst = to,
                            .bytes = bytes,
                            .tag = kTag,
                            .function = function,
                            .comm = "MPI_COMM_WORLD"});
}

enum mode { kBlocking, kSynchronous, kImmediate };
static const char* const kFunctions[] = {"MPI_Send", "MPI_Ssend", "MPI_Isend"};

static void send(enum mode mode, enum layout layout, size_t bytes, int to) {
  unsigned char* buffer = make_contents(layout, bytes, (uint64_t)(rank + 1) * bytes);
  struct view view = make_view(layout, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (mode == kBlocking) MPI_Send(buffer, view.count, view.type, to, kTag, MPI_COMM_WORLD);
  if (mode == kSynchronous) MPI_Ssend(buffer, view.count, view.type, to, kTag, MPI_COMM_WORLD);
  if (mode == kImmediate) {
    MPI_Isend(buffer, view.count, view.type, to, kTag, MPI_COMM_WORLD, &request);
  }
  report(kFunctions[mode], to, bytes);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free_view(&view);
  free(buffer);
}

static void receive(enum layout layout, size_t bytes, int from) {
  unsigned char* buffer = allocate(extent_of(layout, bytes));
  struct view view = make_view(layout, bytes);
  MPI_Request request;
  MPI_Irecv(buffer, view.count, view.type, from, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!contents_hold(layout, buffer, bytes, (uint64_t)(from + 1) * bytes)) {
    fail("wrong contents, %zu bytes from %d", bytes, from);
  }
  free_view(&view);
  free(buffer);
}

static void exchange(enum mode mode, enum layout layout, size_t bytes, int from, int to) {
  if (rank == from) send(mode, layout, bytes, to);
  if (rank == to) receive(layout, bytes, from);
}

static void compute(double seconds) {
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) {
  }
}

static void run_collectives(void) {
  const size_t count = 4 * kMiB / sizeof(uint64_t);
  uint64_t *mine = allocate(count * sizeof *mine), *sum = allocate(count * sizeof *sum);
  for (size_t i = 0; i < count; ++i) mine[i] = i + (uint64_t)rank;
  MPI_Allreduce(mine, sum, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const uint64_t ranks = (uint64_t)size;
  for (size_t i = 0; i < count; ++i) {
    if (sum[i] != i * ranks + ranks * (ranks - 1) / 2) fail("MPI_Allreduce: element %zu", i);
  }
  MPI_Bcast(mine, (int)count, MPI_UINT64_T, 1, MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    if (mine[i] != i + 1) fail("MPI_Bcast: element %zu", i);
  }
  free(mine);
  free(sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  for (enum mode mode = kBlocking; mode <= kImmediate; ++mode) {
    exchange(mode, kContiguous, 4 * kMiB, 0, size - 1);
    exchange(mode, kVector, 4 * kMiB, size - 1, 0);
    exchange(mode, kContiguous, 64 * kMiB, 0, 1);
  }
  exchange(kImmediate, kVector, 64 * kMiB, 1, 0);
  run_collectives();
  compute(argc > 2 ? strtod(argv[2], NULL) : 0);
  if (rank == 0) printf("large: all is right\n");
  close_truth();
  MPI_Finalize();
  return 0;
}
