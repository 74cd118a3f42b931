// Ranks that compute for known times and exchange messages, so that the same work can be run unchanged
// and as in a hypothesis. usage: phases SHAPE STEPS COMPUTE-US[,COMPUTE-US...]
//
// A rank computes for its number of microseconds in each step, the last one for all further ranks.
//   barrier  then all meet in a barrier
//   ring     then each sends to the next rank and receives from the one before
//   root     then rank 0 receives from all in their order, and broadcasts
//   rotate   then all meet in a barrier; in step i a rank computes for the number of rank + i
//   network  the first number is of bytes, which ranks 0 and 1 send each other; before each send they
//            compute for the second number, as if the message were so long on its way
//   forks    then all meet in a barrier; from there two threads of each rank compute, each for a number
//            of its own (those of rank 0 first), and exchange a message with the same thread of the
//            other rank; the first thread waits for the second one
//   lines    the same threads, which never wait for each other, nor meet
//   threads  two threads of rank 0 compute, each for a number of its own, and make a partition ready;
//            rank 1 waits for both
//
// "Computing" is waiting for a time of the clock, as two ranks may have one core.
#include <pthread.h>
#include <time.h>

#include "common.h"

enum { kTag = 5, kMost = 64 };

static int rank, ranks;
static int64_t compute_us[kMost];

static void compute(int64_t us) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t ns = until.tv_nsec + us * 1000;
  until.tv_sec += ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void ring(void) {
  int sent = rank, received = -1;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % ranks, kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void root(void) {
  int value = rank;
  if (rank > 0) MPI_Send(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i) {
    MPI_Recv(&value, 1, MPI_INT, i, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void network(char* data, int bytes, int64_t way_us) {
  if (rank == 0) {
    if (way_us > 0) compute(way_us);
    MPI_Send(data, bytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD);
    MPI_Recv(data, bytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(data, bytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way_us > 0) compute(way_us);
    MPI_Send(data, bytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
  }
}

struct exchange {
  int thread, steps;
};

// One call site for both threads.
__attribute__((noinline)) static void* exchange(void* argument) {
  const struct exchange* work = argument;
  int sent = rank, received = -1;
  for (int step = 0; step < work->steps; ++step) {
    compute(compute_us[2 * rank + work->thread]);
    MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, kTag + work->thread, &received, 1, MPI_INT, 1 - rank,
                 kTag + work->thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (received != 1 - rank) fail("another thread's message");
  }
  return NULL;
}

static void exchange_by_threads(int steps) {
  struct exchange work[2] = {{0, steps}, {1, steps}};
  pthread_t second;
  if (pthread_create(&second, NULL, exchange, &work[1]) != 0) fail("no thread");
  exchange(&work[0]);
  pthread_join(second, NULL);
}

#ifdef WITH_PARTITIONS
struct worker {
  MPI_Request request;
  int number;
  pthread_barrier_t* both;  // a thread that ended would leave its lane in the recording to the other
};

static void* make_ready(void* argument) {
  const struct worker* worker = argument;
  compute(compute_us[worker->number]);
  MPI_Pready(worker->number, worker->request);
  pthread_barrier_wait(worker->both);
  return NULL;
}

static void threads(int steps) {
  int values[2] = {1, 2};
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(values, 2, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(values, 2, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  for (int step = 0; step < steps; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    if (rank == 0) {
      pthread_barrier_t both;
      pthread_barrier_init(&both, NULL, 2);
      struct worker workers[2] = {{request, 0, &both}, {request, 1, &both}};
      pthread_t running[2];
      for (int i = 0; i < 2; ++i) {
        if (pthread_create(&running[i], NULL, make_ready, &workers[i]) != 0) fail("no thread");
      }
      for (int i = 0; i < 2; ++i) pthread_join(running[i], NULL);
      pthread_barrier_destroy(&both);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}
#endif

static void read_times(char* text) {
  int count = 0;
  for (char* word = strtok(text, ","); word != NULL && count < kMost; word = strtok(NULL, ",")) {
    compute_us[count++] = atoll(word);
  }
  if (count == 0) fail("no times");
  for (int i = count; i < kMost; ++i) compute_us[i] = compute_us[count - 1];
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 4) fail("usage: phases SHAPE STEPS COMPUTE-US[,COMPUTE-US...]");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* shape = argv[1];
  const int steps = atoi(argv[2]);
  read_times(argv[3]);
  const int bytes = (int)compute_us[0];
  char* data = strcmp(shape, "network") == 0 ? allocate((size_t)bytes) : NULL;
#ifdef WITH_PARTITIONS
  if (strcmp(shape, "threads") == 0) threads(steps);
#endif
  const int forks = strcmp(shape, "forks") == 0, lines = strcmp(shape, "lines") == 0;
  if ((forks || lines) && (ranks != 2 || provided < MPI_THREAD_MULTIPLE)) fail("no two ranks of threads");
  if (lines) exchange_by_threads(steps);
  for (int step = 0; step < steps && !lines && strcmp(shape, "threads") != 0; ++step) {
    if (forks) {
      MPI_Barrier(MPI_COMM_WORLD);
      exchange_by_threads(1);
      continue;
    }
    if (data != NULL) {
      network(data, bytes, compute_us[1]);
      continue;
    }
    const int rotated = strcmp(shape, "rotate") == 0;
    compute(compute_us[rotated ? (rank + step) % ranks : rank]);
    if (strcmp(shape, "ring") == 0) ring();
    if (strcmp(shape, "root") == 0) root();
    if (strcmp(shape, "barrier") == 0 || rotated) MPI_Barrier(MPI_COMM_WORLD);
  }
  free(data);
  MPI_Finalize();
  return 0;
}
