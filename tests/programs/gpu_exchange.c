// Every rank sends a message of each size to every other one, from memory of one kind into memory
// of another; contents are checked. Rank r uses GPU r modulo their number. Prints one line.
//
//     gpu_exchange FROM TO [TRUTH-PREFIX]     kinds of memory: device, pool, vmm, managed, ...

#include "gpu_ranks.h"

static const size_t kSizes[] = {1, 100, 4000, 20000, 300000, 3000000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

static uint64_t seed_of(int src, int dst, int size) {
  return ((uint64_t)src << 40) + ((uint64_t)dst << 20) + (uint64_t)size;
}

struct run {
  int rank, size;
  const struct memory_kind *from, *to;
  struct place* places;  // by rank
};

static void tell(const struct run* run, int dst, int size) {
  if (truth_file == NULL) return;
  fprintf(truth_file,
          "{\"src\":%d,\"dst\":%d,\"bytes\":%zu,\"tag\":%d,\"function\":\"MPI_Isend\",\"comm\":"
          "\"MPI_COMM_WORLD\"",
          run->rank, dst, kSizes[size], size);
  write_end("src_memory", run->from, &run->places[run->rank]);
  write_end("dst_memory", run->to, &run->places[dst]);
  fprintf(truth_file, "}\n");
}

static void exchange(const struct run* run, int size, struct memory* sent, struct memory* got) {
  const size_t bytes = kSizes[size];
  MPI_Request* requests = allocate(sizeof *requests * 2 * (size_t)run->size);
  int count = 0;
  for (int peer = 0; peer < run->size; ++peer) {
    if (peer == run->rank) continue;
    fill_memory(sent[peer], bytes, seed_of(run->rank, peer, size));
    MPI_Irecv(buffer_of(got[peer]), (int)bytes, MPI_BYTE, peer, size, MPI_COMM_WORLD,
              &requests[count++]);
  }
  for (int peer = 0; peer < run->size; ++peer) {
    if (peer == run->rank) continue;
    MPI_Isend(buffer_of(sent[peer]), (int)bytes, MPI_BYTE, peer, size, MPI_COMM_WORLD,
              &requests[count++]);
    tell(run, peer, size);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < run->size; ++peer) {
    if (peer != run->rank && !memory_holds(got[peer], bytes, seed_of(peer, run->rank, size))) {
      fail("rank %d: wrong contents from %d, %zu bytes", run->rank, peer, bytes);
    }
  }
  free(requests);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) fail("usage: gpu_exchange FROM TO [TRUTH-PREFIX]");
  struct run run = {.from = find_kind(argv[1]), .to = find_kind(argv[2])};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.size);
  open_truth(argc > 3 ? argv[3] : NULL, run.rank);

  run.places = take_gpus(run.rank, run.size);
  const size_t largest = kSizes[kSizeCount - 1];
  struct memory* sent = allocate(sizeof *sent * (size_t)run.size);
  struct memory* got = allocate(sizeof *got * (size_t)run.size);
  for (int peer = 0; peer < run.size; ++peer) {
    sent[peer] = allocate_memory(run.from->name, largest);
    got[peer] = allocate_memory(run.to->name, largest);
  }
  for (int size = 0; size < kSizeCount; ++size) exchange(&run, size, sent, got);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int peer = 0; peer < run.size; ++peer) {
    free_memory(sent[peer]);
    free_memory(got[peer]);
  }
  if (run.rank == 0) {
    printf("gpu_exchange: %d messages from %s to %s memory are right\n",
           run.size * (run.size - 1) * kSizeCount, run.from->name, run.to->name);
  }
  if (truth_file != NULL) fclose(truth_file);
  MPI_Finalize();
  return 0;
}
