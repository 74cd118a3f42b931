// Usage that is known to break MPI profilers: each case is allowed by the standard, checks its
// results and prints a line. Any number of ranks from 2 on.

#include <setjmp.h>

#include "common.h"

static int rank, size;

static void passed(const char* what) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", what);
}

static void expect(int is, int wanted, const char* what) {
  if (is != wanted) fail("rank %d: %s: %d instead of %d", rank, what, is, wanted);
}

static void communicator_of_one(void) {
  int one = 1, sum = 0, got = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  expect(sum + got, 2, "sum and message on MPI_COMM_SELF");
  passed("MPI_COMM_SELF");
}

static void duplicate_with_info(void) {
  MPI_Comm comm;
  int sum = 0;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  expect(sum, size, "sum on a duplicate");
  passed("MPI_Comm_dup_with_info");
}

static void two_groups(void) {
  MPI_Comm half, both, all;
  int sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  MPI_Barrier(both);
  MPI_Intercomm_merge(both, rank % 2, &all);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, all);
  expect(sum, size, "sum on what was merged");
  MPI_Comm_free(&all);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  passed("intercommunicators");
}

static void allocated_window(void) {
  int* memory;
  MPI_Win window;
  // In MPICH 4.0.2, smaller windows of different ranks overlap.
  const MPI_Aint bytes = 1024 * sizeof *memory;
  MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  *memory = 10 * rank;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  const int right = (rank + 1) % size;
  int got = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
  MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, window);
  MPI_Win_unlock(right, window);
  expect(got, 10 * right, "what was fetched");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  passed("MPI_Win_allocate");
}

static void persistent_requests(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int got = -1;
  MPI_Request requests[2];
  MPI_Recv_init(&got, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    got = -1;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(got, left, "message of a persistent request");
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);  // both are inactive
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  passed("persistent requests");
}

static void nothing_to_wait_for(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0, flag = 0, count = 0, indices[3];
  MPI_Waitall(0, none, MPI_STATUSES_IGNORE);
  MPI_Waitall(3, none, MPI_STATUSES_IGNORE);
  MPI_Wait(none, MPI_STATUS_IGNORE);
  MPI_Waitany(3, none, &index, MPI_STATUS_IGNORE);
  expect(index, MPI_UNDEFINED, "index of MPI_Waitany");
  index = 0;
  MPI_Testany(3, none, &index, &flag, MPI_STATUS_IGNORE);
  expect(flag == 1 && index == MPI_UNDEFINED, 1, "flag and index of MPI_Testany");
  MPI_Waitsome(3, none, &count, indices, MPI_STATUSES_IGNORE);
  expect(count, MPI_UNDEFINED, "count of MPI_Waitsome");
  MPI_Testall(3, none, &flag, MPI_STATUSES_IGNORE);
  expect(flag, 1, "flag of MPI_Testall");
  passed("no request to wait for");
}

// No message has arrived when it is tested for, and the test must neither wait nor lose the
// requests.
static void polls(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int got[2] = {-1, -1}, flag = 1, index = -1, asked = 0;
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&got[i], 1, MPI_INT, left, 3 + i, MPI_COMM_WORLD, &requests[i]);
  }
  for (; asked < 2; ++asked) {
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    expect(flag, 0, "flag of MPI_Testall before anything is sent");
  }
  MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
  expect(flag, 0, "flag of MPI_Testany before anything is sent");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Send(&rank, 1, MPI_INT, right, 3 + i, MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  MPI_Pcontrol(1);
  expect(got[0] == left && got[1] == left, 1, "messages that were tested for");
  passed("tests that find nothing");
}

static void scattered_without_counts(void) {
  int* counts = NULL;
  int* places = NULL;
  int* parts = NULL;
  int got = -1;
  MPI_Request request;
  if (rank == 0) {
    counts = allocate(3 * (size_t)size * sizeof *counts);
    places = counts + size;
    parts = places + size;
    for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i, parts[i] = 10 * i;
  }
  MPI_Iscatterv(parts, counts, places, MPI_INT, &got, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got, 10 * rank, "own part");
  free(counts);
  passed("MPI_Iscatterv without counts but at the root");
}

static void neighbours_of_a_graph(void) {
  MPI_Comm ring;
  int* index = allocate((size_t)size * sizeof *index);
  int* edges = allocate((size_t)size * sizeof *edges);
  int got = -1;
  for (int i = 0; i < size; ++i) {  // each is the neighbour of its partner; an odd one of itself
    const int partner = i % 2 != 0 ? i - 1 : i + 1 < size ? i + 1 : i;
    index[i] = i + 1;
    edges[i] = partner;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, ring);
  expect(got, edges[rank], "what the neighbour gave");
  MPI_Comm_free(&ring);
  free(index);
  free(edges);
  passed("MPI_Neighbor_allgather on a graph");
}

// Requests of several communicators in one call, some of them freed before.
static void several_communicators(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  enum { kComms = 3 };
  MPI_Comm comms[kComms];
  MPI_Request requests[2 * kComms];
  int got[kComms];
  for (int i = 0; i < kComms; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Irecv(&got[i], 1, MPI_INT, left, i, comms[i], &requests[2 * i]);
    MPI_Isend(&rank, 1, MPI_INT, right, i, comms[i], &requests[2 * i + 1]);
  }
  MPI_Comm_free(&comms[1]);
  MPI_Waitall(2 * kComms, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kComms; ++i) expect(got[i], left, "message of a communicator");
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[2]);
  passed("MPI_Waitall over several communicators");
}

static jmp_buf before_call;
static void leave_call(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  longjmp(before_call, 1);
}

// An error handler that does not return to MPI; later calls are measured as usual.
static void left_by_a_jump(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  volatile int jumps = 0;
  int sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(leave_call, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  if (setjmp(before_call) == 0) {
    MPI_Send(&rank, 1, MPI_INT, size, 9, comm);  // there is no such rank
    fail("MPI_Send to a rank that is not there returned");
  } else {
    ++jumps;
  }
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(jumps == 1 && sum == size, 1, "sum after the jump");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  passed("an error handler that jumps out of the call");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) fail("usage: awkward, on 2 ranks or more");
  communicator_of_one();
  duplicate_with_info();
  two_groups();
  allocated_window();
  persistent_requests();
  nothing_to_wait_for();
  polls();
  scattered_without_counts();
  neighbours_of_a_graph();
  several_communicators();
  left_by_a_jump();
  MPI_Finalize();
  return 0;
}
