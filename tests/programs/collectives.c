// Collective operations from and to several roots, on communicators whose ranks differ from those
// in the world: blocking, non-blocking and persistent. What each process passes in and gets, and in
// which calls an operation starts and completes, is written as truth.
//
//     collectives TRUTH-PREFIX

#include "channel.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#if OMPI_MAJOR_VERSION < 5  // which has them by other names; version 5 has MPI 3.1, and these
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Gather_init MPIX_Gather_init
#endif
#endif

enum { kCount = 6, kMost = 64, kRounds = 2 };

static const struct channel* on;
static int out[kCount * kMost], in[kCount * kMost];

static const int kNoRoot = -1;
static const long kData = kCount * (long)sizeof(int);

// An operation that is started by call `begun` and completed by call `done`.
static void expect(const char* op, const char* begun, const char* done, int root, long sent,
                   long received) {
  char world[16] = "null", rank[16] = "null";
  if (root != kNoRoot) {
    snprintf(world, sizeof world, "%d", on->world[root]);
    snprintf(rank, sizeof rank, "%d", root);
  }
  fprintf(truth_file,
          "{\"op\":\"%s\",\"begun\":\"MPI_%s\",\"done\":\"MPI_%s\",\"comm\":\"%s\",\"root\":%s,"
          "\"root_in_world\":%s,\"sent\":%ld,\"received\":%ld}\n",
          op, begun, done, on->name, rank, world, sent, received);
}

static long if_root(int root, long bytes) { return on->rank == root ? bytes : 0; }
static long unless_root(int root, long bytes) { return on->rank == root ? 0 : bytes; }
static long of_all(void) { return on->size * kData; }

static void block(int root) {
  expect("BARRIER", "Barrier", "Barrier", kNoRoot, 0, 0);
  MPI_Barrier(on->comm);
  expect("BCAST", "Bcast", "Bcast", root, if_root(root, kData), unless_root(root, kData));
  MPI_Bcast(out, kCount, MPI_INT, root, on->comm);
  expect("REDUCE", "Reduce", "Reduce", root, kData, if_root(root, kData));
  MPI_Reduce(out, in, kCount, MPI_INT, MPI_SUM, root, on->comm);
  expect("GATHER", "Gather", "Gather", root, kData, if_root(root, of_all()));
  MPI_Gather(out, kCount, MPI_INT, in, kCount, MPI_INT, root, on->comm);
  expect("SCATTER", "Scatter", "Scatter", root, if_root(root, of_all()), kData);
  MPI_Scatter(out, kCount, MPI_INT, in, kCount, MPI_INT, root, on->comm);
  expect("ALLREDUCE", "Allreduce", "Allreduce", kNoRoot, kData, kData);
  MPI_Allreduce(out, in, kCount, MPI_INT, MPI_SUM, on->comm);
}

static void begin_one(int root) {
  MPI_Request request, several[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int done = 0, place, places[2];
  expect("BCAST", "Ibcast", "Wait", root, if_root(root, kData), unless_root(root, kData));
  MPI_Ibcast(out, kCount, MPI_INT, root, on->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("GATHER", "Igather", "Test", root, kData, if_root(root, of_all()));
  MPI_Igather(out, kCount, MPI_INT, in, kCount, MPI_INT, root, on->comm, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  expect("SCATTER", "Iscatter", "Waitany", root, if_root(root, of_all()), kData);
  MPI_Iscatter(out, kCount, MPI_INT, in, kCount, MPI_INT, root, on->comm, &several[1]);
  MPI_Waitany(2, several, &place, MPI_STATUS_IGNORE);
  expect("SCAN", "Iscan", "Waitsome", kNoRoot, kData, kData);
  MPI_Iscan(out, in, kCount, MPI_INT, MPI_SUM, on->comm, &several[0]);
  MPI_Waitsome(2, several, &done, places, MPI_STATUSES_IGNORE);
  expect("ALLTOALL", "Ialltoall", "Testall", kNoRoot, of_all(), of_all());
  MPI_Ialltoall(out, kCount, MPI_INT, in, kCount, MPI_INT, on->comm, &several[0]);
  for (done = 0; !done;) MPI_Testall(2, several, &done, MPI_STATUSES_IGNORE);
}

static void begin_several(int root) {
  static int into[3][kCount * kMost];
  MPI_Request requests[3];
  expect("BARRIER", "Ibarrier", "Waitall", kNoRoot, 0, 0);
  MPI_Ibarrier(on->comm, &requests[0]);
  expect("ALLREDUCE", "Iallreduce", "Waitall", kNoRoot, kData, kData);
  MPI_Iallreduce(out, into[1], kCount, MPI_INT, MPI_SUM, on->comm, &requests[1]);
  expect("REDUCE", "Ireduce", "Waitall", root, kData, if_root(root, kData));
  MPI_Ireduce(out, into[2], kCount, MPI_INT, MPI_SUM, root, on->comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void persist(int root) {
  MPI_Request barrier, several[2];
  static int into[kCount * kMost];
  MPI_Barrier_init(on->comm, MPI_INFO_NULL, &barrier);
  MPI_Bcast_init(out, kCount, MPI_INT, root, on->comm, MPI_INFO_NULL, &several[0]);
  MPI_Gather_init(in, kCount, MPI_INT, into, kCount, MPI_INT, root, on->comm, MPI_INFO_NULL,
                  &several[1]);
  for (int round = 0; round < kRounds; ++round) {
    expect("BARRIER", "Start", "Wait", kNoRoot, 0, 0);
    MPI_Start(&barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);  // inactive: no effect
    expect("BCAST", "Startall", "Waitall", root, if_root(root, kData), unless_root(root, kData));
    expect("GATHER", "Startall", "Waitall", root, kData, if_root(root, of_all()));
    MPI_Startall(2, several);
    MPI_Waitall(2, several, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&barrier);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&several[i]);
}

static void operate_on(MPI_Comm comm, const char* name) {
  const struct channel channel = name_channel(comm, name);
  on = &channel;
  for (int root = 0; root < channel.size && channel.size > 1; root += channel.size - 1) {
    block(root);
    begin_one(root);
    begin_several(root);
    persist(root);
  }
  free(channel.world);
  MPI_Comm_free(&comm);
}

// On one process: libraries may give all operations that complete immediately the same handle, so
// that it is unknown which of them a call completes.
static void alone(void) {
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Ibcast(out, kCount, MPI_INT, 0, MPI_COMM_SELF, &requests[i]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2 || size < 2 || size > kMost)
    fail("usage: collectives TRUTH-PREFIX, on 2 to 64 ranks");
  open_truth(argv[1], rank);
  MPI_Comm reversed, half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  operate_on(reversed, "reversed");
  operate_on(half, "half");
  alone();
  close_truth();
  MPI_Finalize();
  return 0;
}
