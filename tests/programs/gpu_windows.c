// Each rank offers memory of a GPU as a window, puts to that of its right neighbour and gets back
// what it put, out of and into memory of one kind; contents are checked. Rank r uses GPU r modulo
// their number. Prints one line.
//
//     gpu_windows OWN WINDOW [TRUTH-PREFIX]     kinds of memory: host, device, managed

#include "gpu_ranks.h"

static const size_t kSizes[] = {8, 5000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kBytes = 300000 };

static int rank, size, right;
static struct place* places;  // by rank

static void tell(const char* function, int src, int dst, size_t bytes,
                 const struct memory_kind* from, const struct memory_kind* to) {
  if (truth_file == NULL) return;
  fprintf(truth_file,
          "{\"src\":%d,\"dst\":%d,\"bytes\":%zu,\"tag\":null,\"function\":\"%s\",\"comm\":"
          "\"MPI_COMM_WORLD\"",
          src, dst, bytes, function);
  write_end("src_memory", from, &places[src]);
  write_end("dst_memory", to, &places[dst]);
  fprintf(truth_file, "}\n");
}

// Up to 1.20, UCX does not wait for cuda_ipc operations when a single target is flushed: MPI then
// continues too early, and a get reads the data from before the put. A flush of all targets waits.
static void flush(MPI_Win win) {
  MPI_Win_flush(right, win);
  MPI_Win_flush_all(win);
}

static void there_and_back(MPI_Win win, struct memory own, const struct memory_kind* window,
                           size_t bytes) {
  struct memory got = own;
  got.address += kBytes;
  fill_memory(own, bytes, bytes + (size_t)rank);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  MPI_Put(buffer_of(own), (int)bytes, MPI_BYTE, right, 0, (int)bytes, MPI_BYTE, win);
  flush(win);
  MPI_Get(buffer_of(got), (int)bytes, MPI_BYTE, right, 0, (int)bytes, MPI_BYTE, win);
  flush(win);
  MPI_Win_unlock(right, win);
  tell("MPI_Put", rank, right, bytes, own.kind, window);
  tell("MPI_Get", right, rank, bytes, window, own.kind);
  if (!memory_holds(got, bytes, bytes + (size_t)rank)) {
    fail("rank %d: wrong contents of %zu bytes", rank, bytes);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) fail("usage: gpu_windows OWN WINDOW [TRUTH-PREFIX]");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  open_truth(argc > 3 ? argv[3] : NULL, rank);

  places = take_gpus(rank, size);
  const struct memory own = allocate_memory(argv[1], 2 * kBytes);
  const struct memory offered = allocate_memory(argv[2], kBytes);
  MPI_Win win;
  MPI_Win_create(buffer_of(offered), kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < kSizeCount; ++i) there_and_back(win, own, offered.kind, kSizes[i]);
  MPI_Win_free(&win);
  free_memory(own);
  free_memory(offered);
  if (rank == 0) {
    printf("gpu_windows: %d puts and as many gets, %s memory, windows of %s memory\n",
           size * kSizeCount, argv[1], argv[2]);
  }
  close_truth();
  MPI_Finalize();
  return 0;
}
