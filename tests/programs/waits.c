// Waits of every kind with delays that the program measures itself, by the clock that uctrace
// reads. usage: waits CASE [TRUTH]
//
// Each rank writes to TRUTH.<rank>.jsonl what it waited for: {"kind", "waiting", "causing", "ns"};
// 0 ns or less: it did not wait for that one. In the end it writes when it called MPI_Finalize.
// Ranks are late by computing, not by sleeping in MPI: a waiting rank has entered its call long
// before. A rank learns of the other's times by messages after the measurement.
#include <time.h>

#include "common.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5  // which has it by another name
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

enum { kDelayMs = 60, kTag = 7 };

static int rank, ranks;
static const char* truth_prefix = "waits";  // of the files that it writes

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void compute(int64_t ms) {
  const int64_t end = now_ns() + ms * 1000000;
  while (now_ns() < end) {
  }
}

// The test identifies the calls of a case by their function: code before and after is not inlined.
#define APART __attribute__((noinline)) static

// When each rank entered the call that the case is about, the same on all of them.
struct entered {
  int64_t ns[64];
};

APART struct entered share(int64_t own_ns) {
  struct entered all = {{0}};
  MPI_Allgather(&own_ns, 1, MPI_INT64_T, all.ns, 1, MPI_INT64_T, MPI_COMM_WORLD);
  return all;
}

static void write_wait(const char* kind, int waiting, int causing, int64_t ns) {
  if (rank != waiting || truth_file == NULL) return;
  fprintf(truth_file, "{\"kind\":\"%s\",\"waiting\":%d,\"causing\":%d,\"ns\":%lld}\n", kind,
          waiting, causing, (long long)ns);
}

static void late_sender(void) {
  int value = rank;
  if (rank == 0) compute(kDelayMs);
  const int64_t at = now_ns();
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const struct entered all = share(at);
  write_wait("late_sender", 1, 0, all.ns[0] - all.ns[1]);
}

// By MPI_Waitall, of two messages: the first one is waited for until it is sent, the second one
// from there on.
static void late_senders(void) {
  int values[2] = {rank, rank};
  if (rank == 0) compute(kDelayMs);
  if (rank == 2) compute(2 * kDelayMs);
  const int64_t at = now_ns();
  if (rank == 0 || rank == 2) MPI_Send(values, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  int64_t waited_at = at;
  if (rank == 1) {
    MPI_Request requests[2];
    MPI_Irecv(&values[0], 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 2, kTag, MPI_COMM_WORLD, &requests[1]);
    waited_at = now_ns();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  const struct entered all = share(waited_at);
  write_wait("late_sender", 1, 0, all.ns[0] - all.ns[1]);
  write_wait("late_sender", 1, 2, all.ns[2] - all.ns[0]);
}

static void late_receiver(void) {
  enum { kBytes = 4 << 20 };
  char* data = allocate(kBytes);
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  if (rank == 0) MPI_Ssend(data, kBytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(data, kBytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const struct entered all = share(at);
  write_wait("late_receiver", 0, 1, all.ns[1] - all.ns[0]);
  free(data);
}

// The same by a request: the send is begun at once, and waited for.
static void isend_rendezvous(void) {
  enum { kBytes = 4 << 20 };
  char* data = allocate(kBytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) compute(kDelayMs);
  if (rank == 0) MPI_Isend(data, kBytes, MPI_CHAR, 1, kTag, MPI_COMM_WORLD, &request);
  const int64_t at = now_ns();
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Recv(data, kBytes, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const struct entered all = share(at);
  write_wait("late_receiver", 0, 1, all.ns[1] - all.ns[0]);
  free(data);
}

static void waitsome(void) {
  int value = rank, done, which;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Irecv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &request);
  if (rank == 0) compute(kDelayMs);
  const int64_t at = now_ns();
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Waitsome(1, &request, &done, &which, MPI_STATUSES_IGNORE);
  const struct entered all = share(at);
  write_wait("late_sender", 1, 0, all.ns[0] - all.ns[1]);
}

// By the probe that finds the message, before it is received.
static void late_for_probe(int matched) {
  int value = rank;
  if (rank == 0) compute(kDelayMs);
  const int64_t at = now_ns();
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1 && matched) {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Probe(0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const struct entered all = share(at);
  write_wait("late_sender", 1, 0, all.ns[0] - all.ns[1]);
}

static void probe(void) { late_for_probe(0); }
static void mprobe(void) { late_for_probe(1); }

// The message sent first is received last.
static void wrong_order(void) {
  int first = 1, second = 2;
  int64_t at = now_ns();
  if (rank == 0) {
    MPI_Send(&first, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    compute(kDelayMs);
    at = now_ns();
    MPI_Send(&second, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    MPI_Recv(&second, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&first, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const struct entered all = share(at);
  write_wait("wrong_order", 1, 0, all.ns[0] - all.ns[1]);
}

static void all_wait_for(int late, const char* kind, const struct entered* all) {
  for (int i = 0; i < ranks; ++i) {
    if (i != late) write_wait(kind, i, late, all->ns[late] - all->ns[i]);
  }
}

static void barrier(void) {
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Barrier(MPI_COMM_WORLD);
  const struct entered all = share(at);
  all_wait_for(1, "wait_barrier", &all);
}

static void allreduce(void) {
  int in = rank, out;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const struct entered all = share(at);
  all_wait_for(1, "wait_nxn", &all);
}

static void broadcast(void) {
  int value = rank;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
  const struct entered all = share(at);
  all_wait_for(1, "late_broadcast", &all);
}

static void reduce(void) {
  int in = rank, out;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  const struct entered all = share(at);
  write_wait("early_reduce", 0, 1, all.ns[1] - all.ns[0]);
}

static void scan(void) {
  int in = rank, out;
  if (rank == 0) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const struct entered all = share(at);
  all_wait_for(0, "early_scan", &all);
}

static void nonblocking(void) {
  int in = rank, out;
  MPI_Request request;
  if (rank == 1) compute(kDelayMs);
  const int64_t begun = now_ns();
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  const int64_t waiting = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const struct entered all_begun = share(begun), all_waiting = share(waiting);
  for (int i = 0; i < ranks; ++i) {
    if (i != 1) write_wait("nonblocking_collective", i, 1, all_begun.ns[1] - all_waiting.ns[i]);
  }
}

static void ibcast(void) {
  int value = rank;
  MPI_Request request;
  if (rank == 1) compute(kDelayMs);
  const int64_t begun = now_ns();
  MPI_Ibcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
  const int64_t waiting = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const struct entered all_begun = share(begun), all_waiting = share(waiting);
  for (int i = 0; i < ranks; ++i) {
    if (i != 1) write_wait("nonblocking_collective", i, 1, all_begun.ns[1] - all_waiting.ns[i]);
  }
}

static void ireduce(void) {
  int in = rank, out;
  MPI_Request request;
  if (rank == 1) compute(kDelayMs);
  const int64_t begun = now_ns();
  MPI_Ireduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  const int64_t waiting = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const struct entered all_begun = share(begun), all_waiting = share(waiting);
  write_wait("nonblocking_collective", 0, 1, all_begun.ns[1] - all_waiting.ns[0]);
}

// All send something to all.
static void alltoallv(void) {
  int counts[64], offsets[64], out[64] = {0}, in[64];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1;
    offsets[i] = i;
  }
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Alltoallv(out, counts, offsets, MPI_INT, in, counts, offsets, MPI_INT, MPI_COMM_WORLD);
  const struct entered all = share(at);
  all_wait_for(1, "wait_nxn", &all);
}

// Connected by a first exchange.
APART MPI_Comm make_ring(void) {
  const int periodic = 1, out = rank;
  int in[2];
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Barrier(MPI_COMM_WORLD);
  return ring;
}

// In a ring: a rank that is no neighbour of the late rank does not wait.
static void neighbours(void) {
  const int out = rank;
  int in[2];
  MPI_Comm ring = make_ring();
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, ring);
  const struct entered all = share(at);
  for (int i = 0; i < ranks; ++i) {
    const int is_neighbour = i == 0 || i == 2;
    if (i != 1) write_wait("wait_nxn", i, 1, is_neighbour ? all.ns[1] - all.ns[i] : 0);
  }
  MPI_Comm_free(&ring);
}

// Even and odd ranks, as two groups.
APART MPI_Comm between_groups(void) {
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - rank % 2, kTag, &both);
  MPI_Comm_free(&group);
  MPI_Barrier(both);
  MPI_Barrier(MPI_COMM_WORLD);
  return both;
}

static void barrier_between(void) {
  MPI_Comm both = between_groups();
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Barrier(both);
  const struct entered all = share(at);
  for (int i = 0; i < ranks; i += 2) write_wait("wait_barrier", i, 1, all.ns[1] - all.ns[i]);
  MPI_Comm_free(&both);
}

// Connected by a first broadcast.
APART void connect_root(MPI_Comm both, int root) {
  int value = rank;
  MPI_Bcast(&value, 1, MPI_INT, root, both);
  MPI_Barrier(MPI_COMM_WORLD);
}

// From rank 1 to the even ones.
static void broadcast_between(void) {
  MPI_Comm both = between_groups();
  int value = rank;
  const int root = rank % 2 == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
  connect_root(both, root);
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Bcast(&value, 1, MPI_INT, root, both);
  const struct entered all = share(at);
  for (int i = 0; i < ranks; ++i) {
    if (i != 1) write_wait("late_broadcast", i, 1, i % 2 == 0 ? all.ns[1] - all.ns[i] : 0);
  }
  MPI_Comm_free(&both);
}

static void communicator(void) {
  MPI_Comm copy;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const struct entered all = share(at);
  all_wait_for(1, "wait_nxn", &all);
  MPI_Comm_free(&copy);
}

static void file(void) {
  char path[4200];
  snprintf(path, sizeof path, "%s.file", truth_prefix);
  MPI_File shared;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
  const struct entered all = share(at);
  all_wait_for(1, "wait_nxn", &all);
  MPI_File_close(&shared);
}

// Started twice: the late one is late in the second.
APART void run_once(MPI_Request* request) {
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(void) {
  int in = rank, out;
  MPI_Request request;
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  run_once(&request);
  if (rank == 1) compute(kDelayMs);
  const int64_t started = now_ns();
  MPI_Start(&request);
  const int64_t waiting = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const struct entered all_started = share(started), all_waiting = share(waiting);
  for (int i = 0; i < ranks; ++i) {
    if (i != 1) write_wait("nonblocking_collective", i, 1, all_started.ns[1] - all_waiting.ns[i]);
  }
  MPI_Request_free(&request);
}

APART MPI_Win window_of(int** memory) {
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &window);
  **memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return window;
}

APART void free_window(MPI_Win* window) { MPI_Win_free(window); }

APART void open_epoch(MPI_Win window) { MPI_Win_fence(0, window); }

static void fence(void) {
  int* memory;
  MPI_Win window = window_of(&memory);
  open_epoch(window);
  if (rank == 0) MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Win_fence(0, window);
  const struct entered all = share(at);
  all_wait_for(1, "rma_wait_at_fence", &all);
  MPI_Win_free(&window);
}

static void win_create(void) {
  int* memory;
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  const struct entered all = share(at);
  all_wait_for(1, "rma_wait_at_create", &all);
  free_window(&window);
}

static void win_free(void) {
  int* memory;
  MPI_Win window = window_of(&memory);
  if (rank == 1) compute(kDelayMs);
  const int64_t at = now_ns();
  MPI_Win_free(&window);
  const struct entered all = share(at);
  all_wait_for(1, "rma_wait_at_create", &all);
}

// Rank 0 puts into rank 1, which lets it late; or completes late, while rank 1 waits.
static void epochs(int target_is_late) {
  int* memory;
  MPI_Win window = window_of(&memory);
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int partner = 1 - rank;
  int64_t at = now_ns();
  if (rank < 2) {
    MPI_Group_incl(world, 1, &partner, &other);
    if (rank == 0) {
      at = now_ns();
      MPI_Win_start(other, 0, window);
      MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
      if (!target_is_late) {
        compute(kDelayMs);
        at = now_ns();
      }
      MPI_Win_complete(window);
    } else {
      if (target_is_late) compute(kDelayMs);
      at = now_ns();
      MPI_Win_post(other, 0, window);
      if (!target_is_late) at = now_ns();
      MPI_Win_wait(window);
    }
    MPI_Group_free(&other);
  }
  const struct entered all = share(at);
  if (target_is_late) {
    write_wait("rma_late_post", 0, 1, all.ns[1] - all.ns[0]);
  } else {
    write_wait("rma_early_wait", 1, 0, all.ns[0] - all.ns[1]);
  }
  MPI_Group_free(&world);
  MPI_Win_free(&window);
}

static void late_post(void) { epochs(1); }
static void early_wait(void) { epochs(0); }

// Rank 0 holds the lock of rank 1's memory while rank 2 asks for it.
static void lock(void) {
  int* memory;
  MPI_Win window = window_of(&memory);
  int64_t at = now_ns(), held = 1;
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_flush(1, window);
    MPI_Send(&held, 1, MPI_INT64_T, 2, kTag, MPI_COMM_WORLD);
    compute(kDelayMs);
    at = now_ns();
    MPI_Win_unlock(1, window);
  }
  if (rank == 2) {
    MPI_Recv(&held, 1, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at = now_ns();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
  }
  const struct entered all = share(at);
  write_wait("rma_lock_contention", 2, 0, all.ns[0] - all.ns[2]);
  MPI_Win_free(&window);
}

// The same, but that rank 2 asks for the locks of all.
static void lock_all(void) {
  int* memory;
  MPI_Win window = window_of(&memory);
  int64_t at = now_ns(), held = 1;
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_flush(1, window);
    MPI_Send(&held, 1, MPI_INT64_T, 2, kTag, MPI_COMM_WORLD);
    compute(kDelayMs);
    at = now_ns();
    MPI_Win_unlock(1, window);
  }
  if (rank == 2) {
    MPI_Recv(&held, 1, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at = now_ns();
    MPI_Win_lock_all(0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock_all(window);
  }
  const struct entered all = share(at);
  write_wait("rma_lock_contention", 2, 0, all.ns[0] - all.ns[2]);
  MPI_Win_free(&window);
}

// A ring of steps in which one rank has more work than the others. Every rank ends up waiting for
// its neighbours; the question is whose work causes it.
static void ring(void) {
  enum { kSteps = 10, kDoubles = 64 };
  double out[kDoubles] = {0}, left[kDoubles], right[kDoubles];
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  for (int step = 0; step < kSteps; ++step) {
    compute(rank == ranks / 2 ? 20 : 1);
    MPI_Request requests[4];
    MPI_Irecv(left, kDoubles, MPI_DOUBLE, before, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(right, kDoubles, MPI_DOUBLE, after, kTag, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, kDoubles, MPI_DOUBLE, before, kTag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, kDoubles, MPI_DOUBLE, after, kTag, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

// A square of ranks, of which one has more work than the others. They sleep in place of work, so
// that many ranks fit on few cores.
static void stencil(void) {
  enum { kSteps = 6, kDoubles = 64, kSlow = 17 };
  double halo[5][kDoubles] = {{0}};
  int width = 1;
  while (width * width < ranks) ++width;
  const int x = rank % width, y = rank / width;
  const int neighbours[4] = {x > 0 ? rank - 1 : MPI_PROC_NULL,
                             x + 1 < width && rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL,
                             y > 0 ? rank - width : MPI_PROC_NULL,
                             rank + width < ranks ? rank + width : MPI_PROC_NULL};
  for (int step = 0; step < kSteps; ++step) {
    // The first steps make the connections.
    const struct timespec work = {.tv_nsec = (rank == kSlow && step > 1 ? 400 : 2) * 1000000L};
    nanosleep(&work, NULL);
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) {
      MPI_Irecv(halo[i], kDoubles, MPI_DOUBLE, neighbours[i], kTag, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 4; ++i) {
      MPI_Isend(halo[4], kDoubles, MPI_DOUBLE, neighbours[i], kTag, MPI_COMM_WORLD,
                &requests[4 + i]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }
}

// Rank 1 comes late to MPI_Finalize, which follows.
static void finalize(void) {
  if (rank == 1) compute(kDelayMs);
}

struct test_case {
  const char* name;
  void (*run)(void);
};

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"late_sender", late_sender},
                                    {"late_senders", late_senders},
                                    {"late_receiver", late_receiver},
                                    {"isend_rendezvous", isend_rendezvous},
                                    {"waitsome", waitsome},
                                    {"probe", probe},
                                    {"mprobe", mprobe},
                                    {"wrong_order", wrong_order},
                                    {"barrier", barrier},
                                    {"allreduce", allreduce},
                                    {"broadcast", broadcast},
                                    {"reduce", reduce},
                                    {"scan", scan},
                                    {"nonblocking", nonblocking},
                                    {"ibcast", ibcast},
                                    {"ireduce", ireduce},
                                    {"alltoallv", alltoallv},
                                    {"neighbours", neighbours},
                                    {"barrier_between", barrier_between},
                                    {"broadcast_between", broadcast_between},
                                    {"communicator", communicator},
                                    {"file", file},
                                    {"persistent", persistent},
                                    {"win_create", win_create},
                                    {"win_free", win_free},
                                    {"fence", fence},
                                    {"late_post", late_post},
                                    {"early_wait", early_wait},
                                    {"lock", lock},
                                    {"lock_all", lock_all},
                                    {"ring", ring},
                                    {"stencil", stencil},
                                    {"finalize", finalize}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  open_truth(argc > 2 ? argv[2] : NULL, rank);
  if (argc > 2) truth_prefix = argv[2];
  // Connections are made before anything is measured, where they are few.
  int value = rank;
  for (int i = 0; i < ranks && ranks <= 8; ++i) {
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + i) % ranks, 0, (rank + ranks - i) % ranks, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  int found = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const int all = argc > 1 && strcmp(argv[1], "all") == 0 && cases[i].run != stencil &&
                    (argc > 2 || cases[i].run != file);
    if (argc < 2 || (!all && strcmp(argv[1], cases[i].name) != 0)) continue;
    found = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    cases[i].run();
  }
  if (!found) fail("usage: waits CASE|all [TRUTH]");
  const int64_t ends_at = now_ns();
  MPI_Finalize();
  if (truth_file != NULL) {
    // No communication is possible any more: the reader of the files computes the differences.
    fprintf(truth_file, "{\"kind\":\"finalized\",\"rank\":%d,\"at\":%lld}\n", rank,
            (long long)ends_at);
    fclose(truth_file);
  }
  return 0;
}
