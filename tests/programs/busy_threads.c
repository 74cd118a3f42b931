// Several threads of each rank at once, each on a communicator of its own: blocking and
// non-blocking messages, collectives, and requests that another thread completes after the one that
// started them has ended. With `shared-tag` the threads also send on one communicator with one tag,
// so that only the contents identify the sender.
//
//     busy_threads own|shared-tag [TRUTH-PREFIX]

#include <pthread.h>

#include "common.h"

enum { kThreads = 8, kRounds = 8, kTag = 4, kLeftTag = 5, kSharedTag = 6, kLeftBytes = 50000 };
static const size_t kSizes[] = {8, 1000, 20000, 100000};

static int rank, size, to, from;
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;

struct worker {
  int number;
  MPI_Comm comm;
  char name[16];
  pthread_t thread;
  MPI_Request left[2];  // started by the thread, completed by main
  unsigned char *out, *in;
};

static void report(const char* comm, const char* function, size_t bytes, int tag) {
  pthread_mutex_lock(&truth_lock);
  write_truth((struct sent){
      .src = rank, .dst = to, .bytes = bytes, .tag = tag, .function = function, .comm = comm});
  pthread_mutex_unlock(&truth_lock);
}

static uint64_t seed_of(int src, const struct worker* worker, int round) {
  return (uint64_t)(src * 1000 + worker->number * 100 + round);
}

static void exchange(const struct worker* worker, int round) {
  const size_t bytes = kSizes[(size_t)(round + worker->number) % 4];
  unsigned char *out = allocate(bytes), *in = allocate(bytes);
  MPI_Request request;
  fill(out, bytes, seed_of(rank, worker, round));
  if (round % 2 == 0) {
    MPI_Irecv(in, (int)bytes, MPI_BYTE, from, kTag, worker->comm, &request);
    MPI_Send(out, (int)bytes, MPI_BYTE, to, kTag, worker->comm);
    report(worker->name, "MPI_Send", bytes, kTag);
  } else {
    MPI_Isend(out, (int)bytes, MPI_BYTE, to, kTag, worker->comm, &request);
    report(worker->name, "MPI_Isend", bytes, kTag);
    MPI_Recv(in, (int)bytes, MPI_BYTE, from, kTag, worker->comm, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!holds(in, bytes, seed_of(from, worker, round))) fail("wrong contents on %s", worker->name);
  free(out);
  free(in);
}

static void sum_up(const struct worker* worker, int round) {
  int mine = rank + round, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, worker->comm);
  if (sum != size * (size - 1) / 2 + size * round) fail("wrong sum on %s", worker->name);
}

static void leave_requests(struct worker* worker) {
  worker->out = allocate(kLeftBytes);
  worker->in = allocate(kLeftBytes);
  fill(worker->out, kLeftBytes, seed_of(rank, worker, kRounds));
  MPI_Irecv(worker->in, kLeftBytes, MPI_BYTE, from, kLeftTag, worker->comm, &worker->left[0]);
  MPI_Isend(worker->out, kLeftBytes, MPI_BYTE, to, kLeftTag, worker->comm, &worker->left[1]);
  report(worker->name, "MPI_Isend", kLeftBytes, kLeftTag);
}

static void* run_worker(void* argument) {
  struct worker* worker = argument;
  for (int round = 0; round < kRounds; ++round) {
    exchange(worker, round);
    sum_up(worker, round);
  }
  leave_requests(worker);
  return NULL;
}

static void* share_tag(void* argument) {
  const struct worker* worker = argument;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t out = 1, in = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_UINT64_T, from, kSharedTag, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_UINT64_T, to, kSharedTag, MPI_COMM_WORLD);
    report("MPI_COMM_WORLD", "MPI_Send", sizeof out, kSharedTag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != 1) fail("wrong contents of thread %d", worker->number);
  }
  return NULL;
}

static void run_all(struct worker* workers, void* (*body)(void*)) {
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(workers[i].thread, NULL);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  to = (rank + 1) % size;
  from = (rank + size - 1) % size;
  if (argc < 2) fail("usage: busy_threads own|shared-tag [TRUTH-PREFIX]");
  open_truth(argc > 2 ? argv[2] : NULL, rank);
  struct worker workers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    workers[i] = (struct worker){.number = i};
    snprintf(workers[i].name, sizeof workers[i].name, "Thread %d", i);
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    MPI_Comm_set_name(workers[i].comm, workers[i].name);
  }
  run_all(workers, run_worker);
  for (int i = kThreads - 1; i >= 0; --i) {
    MPI_Waitall(2, workers[i].left, MPI_STATUSES_IGNORE);
    if (!holds(workers[i].in, kLeftBytes, seed_of(from, &workers[i], kRounds))) {
      fail("wrong contents of what thread %d left", i);
    }
    free(workers[i].out);
    free(workers[i].in);
  }
  if (strcmp(argv[1], "shared-tag") == 0) run_all(workers, share_tag);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("busy_threads: %s is right\n", argv[1]);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&workers[i].comm);
  close_truth();
  MPI_Finalize();
  return 0;
}
