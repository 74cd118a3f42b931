// A world that spawns another, and talks with it over the intercommunicator and a merged one.
//
//     spawns          the parents
//     spawns child    one of the children, started by them

#include "common.h"

enum { kChildren = 3, kBytes = 5000, kTag = 7, kPersistentTag = 8, kStarts = 2 };

static uint64_t seed_of(int parent, int child) { return (uint64_t)(100 * parent + child); }

// Every parent sends to every child and gets it back.
static void send_to(MPI_Comm children, int parent) {
  unsigned char* buffer = allocate(kBytes);
  for (int child = 0; child < kChildren; ++child) {
    fill(buffer, kBytes, seed_of(parent, child));
    MPI_Send(buffer, kBytes, MPI_BYTE, child, kTag, children);
    memset(buffer, 0, kBytes);
    MPI_Recv(buffer, kBytes, MPI_BYTE, child, kTag, children, MPI_STATUS_IGNORE);
    if (!holds(buffer, kBytes, seed_of(parent, child))) fail("wrong contents of an answer");
  }
  free(buffer);
}

// The first child also gets some by a request that is started again and again.
static void start_to(MPI_Comm children, int parent) {
  MPI_Request request;
  MPI_Send_init(&parent, 1, MPI_INT, 0, kPersistentTag, children, &request);
  for (int i = 0; i < kStarts; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void take_started(MPI_Comm parents, int count) {
  for (int i = 0; i < count * kStarts; ++i) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, i % count, kPersistentTag, parents, MPI_STATUS_IGNORE);
    if (got != i % count) fail("%d instead of %d", got, i % count);
  }
}

static void answer(MPI_Comm parents, int child) {
  int count;
  MPI_Comm_remote_size(parents, &count);
  unsigned char* buffer = allocate(kBytes);
  for (int i = 0; i < count; ++i) {
    MPI_Recv(buffer, kBytes, MPI_BYTE, i, kTag, parents, MPI_STATUS_IGNORE);
    if (!holds(buffer, kBytes, seed_of(i, child))) fail("wrong contents of a message");
    MPI_Send(buffer, kBytes, MPI_BYTE, i, kTag, parents);
  }
  free(buffer);
}

static void add_up(MPI_Comm between, int high, int expected) {
  MPI_Comm all;
  int sum = 0;
  const int one = 1;
  MPI_Intercomm_merge(between, high, &all);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  if (sum != expected) fail("%d processes instead of %d", sum, expected);
  MPI_Comm_free(&all);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&between);
  if (between == MPI_COMM_NULL) {
    char word[] = "child";
    char* arguments[] = {word, NULL};
    MPI_Comm_spawn(argv[0], arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
    send_to(between, rank);
    start_to(between, rank);
    add_up(between, 0, size + kChildren);
    if (rank == 0) printf("spawns: all is right\n");
  } else {
    int parents;
    MPI_Comm_remote_size(between, &parents);
    answer(between, rank);
    if (rank == 0) take_started(between, parents);
    add_up(between, 1, parents + kChildren);
  }
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}
