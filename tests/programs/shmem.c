// OpenSHMEM: puts, gets and atomic operations between neighbours, and collectives, all checked.
// Each PE writes what it called of put, get and atomics, by whom to whom.
//
//     shmem [TRUTH]

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 300000 };
static const size_t kSizes[] = {8, 5000, kBytes};
static long counter;
static FILE* truth;
static int me;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "shmem: PE %d: %s failed\n", me, what);
  shmem_global_exit(1);
}

static void called(const char* kind, int to, size_t bytes) {
  if (truth == NULL) return;
  fprintf(truth, "{\"kind\":\"%s\",\"by\":%d,\"to\":%d,\"bytes\":%zu}\n", kind, me, to, bytes);
}

int main(int count, char** arguments) {
  shmem_init();
  me = shmem_my_pe();
  const int all = shmem_n_pes(), next = (me + 1) % all;
  if (count > 1) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d.jsonl", arguments[1], me);
    truth = fopen(path, "w");
    check(truth != NULL, "writing the truth");
  }
  unsigned char* region = shmem_malloc(kBytes);
  unsigned char* buffer = malloc(kBytes);
  check(region != NULL && buffer != NULL, "memory");
  memset(region, 0, kBytes);
  shmem_barrier_all();

  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    memset(buffer, me + 1, kSizes[i]);
    shmem_putmem(region, buffer, kSizes[i], next);
    called("put", next, kSizes[i]);
    shmem_quiet();
    memset(buffer, 0, kSizes[i]);
    shmem_getmem(buffer, region, kSizes[i], next);
    called("get", next, kSizes[i]);
    for (size_t k = 0; k < kSizes[i]; ++k) check(buffer[k] == me + 1, "comparing contents");
  }
  shmem_barrier_all();
  for (size_t k = 0; k < kBytes; ++k) check(region[k] == (me + all - 1) % all + 1, "what came");
  for (int pe = 0; pe < all; ++pe) {
    shmem_long_atomic_fetch_add(&counter, me + 1, pe);
    called("atomic", pe, sizeof(long));
  }
  shmem_barrier_all();
  check(counter == (long)all * (all + 1) / 2, "the sum of the atomic operations");
  if (truth != NULL) fclose(truth);
  if (me == 0) printf("shmem: %d PEs are right\n", all);
  fflush(stdout);
  shmem_barrier_all();
  shmem_global_exit(0);  // shmem_finalize of Open MPI 4.1.4 crashes over UCX
  return 0;
}
