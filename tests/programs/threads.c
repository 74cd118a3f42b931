// Several threads of each rank exchange at the same time, each pair of threads with its own tag.
//
//     threads [TRUTH-PREFIX]

#include <pthread.h>

#include "common.h"

enum { kThreads = 8, kMessages = 20 };
static const size_t kSizes[] = {0, 8, 1000, 8192, 20000, 100000};

static int rank, size;
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t bytes_of(int thread, int i) {
  return kSizes[(size_t)(thread + i) % (sizeof kSizes / sizeof *kSizes)];
}

static uint64_t seed_of(int src, int thread, int i) {
  return (uint64_t)(src * 10000 + thread * 100 + i);
}

static void exchange(int thread, int i, int to, int from) {
  const size_t bytes = bytes_of(thread, i);
  unsigned char *sent = allocate(bytes), *got = allocate(bytes);
  fill(sent, bytes, seed_of(rank, thread, i));
  MPI_Request request;
  MPI_Isend(sent, (int)bytes, MPI_BYTE, to, thread, MPI_COMM_WORLD, &request);
  MPI_Recv(got, (int)bytes, MPI_BYTE, from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!holds(got, bytes, seed_of(from, thread, i))) {
    fail("thread %d: wrong contents, %zu bytes from %d", thread, bytes, from);
  }
  pthread_mutex_lock(&truth_lock);
  write_truth((struct sent){.src = rank,
                            .dst = to,
                            .bytes = bytes,
                            .tag = thread,
                            .function = "MPI_Isend",
                            .comm = "MPI_COMM_WORLD"});
  pthread_mutex_unlock(&truth_lock);
  free(sent);
  free(got);
}

static void* run_thread(void* argument) {
  const int thread = *(const int*)argument;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < kMessages; ++i) exchange(thread, i, to, from);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, run_thread, &numbers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("threads: %d messages per rank are right\n", kThreads * kMessages);
  close_truth();
  MPI_Finalize();
  return 0;
}
