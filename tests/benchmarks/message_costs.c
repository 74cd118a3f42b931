// The cost of one operation for the calling thread, batch by batch.
//
// usage: message_costs CASE BYTES BATCHES OPERATIONS PAUSE_US
//   self       Irecv, Send and Wait of one message to the own rank (1 rank)
//   pingpong   Send and Recv in turns; an operation is one way (2 ranks)
//   test       one MPI_Test of a receive that nothing arrives for (1 rank)
//   window     Isend and Irecv of kWindow messages at once, then one back; an operation is one of
//              them (2 ranks)
//   proc-null  one MPI_Send to MPI_PROC_NULL: the bare cost of a recorded call (1 rank)
// With a pause before each batch, a recorder that prepares its log beside the job keeps up, and the
// batch shows what recording costs; without one it shows what a job that does nothing else gets.
#include <mpi.h>

#include "measure.h"

struct work {
  int rank, bytes;
  unsigned long operations;
  char *out, *in;
};

static void exchange_with_self(const struct work* work) {
  for (unsigned long i = 0; i < work->operations; ++i) {
    MPI_Request request;
    MPI_Irecv(work->in, work->bytes, MPI_CHAR, work->rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(work->out, work->bytes, MPI_CHAR, work->rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

enum { kWindow = 16 };

// All receives take the same buffer: nobody looks at the content.
static void fill_windows(const struct work* work) {
  const int peer = 1 - work->rank;
  MPI_Request requests[kWindow];
  for (unsigned long i = 0; i < work->operations; i += kWindow) {
    for (int j = 0; j < kWindow; ++j) {
      if (work->rank == 0) {
        MPI_Isend(work->out, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[j]);
      } else {
        MPI_Irecv(work->in, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[j]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (work->rank == 0) {
      MPI_Recv(work->in, 0, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(work->out, 0, MPI_CHAR, peer, 2, MPI_COMM_WORLD);
    }
  }
}

// Two operations a turn: there and back.
static void play_ping_pong(const struct work* work) {
  const int peer = 1 - work->rank;
  for (unsigned long i = 0; i < work->operations; i += 2) {
    if (work->rank == 0) {
      MPI_Send(work->out, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(work->in, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(work->in, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(work->out, work->bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    }
  }
}

static void poll_for_nothing(const struct work* work) {
  MPI_Request request;
  MPI_Irecv(work->in, work->bytes, MPI_CHAR, work->rank, 1, MPI_COMM_WORLD, &request);
  for (unsigned long i = 0; i < work->operations; ++i) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Send(work->out, work->bytes, MPI_CHAR, work->rank, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_to_nobody(const struct work* work) {
  for (unsigned long i = 0; i < work->operations; ++i) {
    MPI_Send(work->out, work->bytes, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  }
}

static const struct {
  const char* name;
  int ranks;
  void (*body)(const struct work*);
} kCases[] = {
    {"self", 1, exchange_with_self}, {"pingpong", 2, play_ping_pong},  {"window", 2, fill_windows},
    {"test", 1, poll_for_nothing},   {"proc-null", 1, send_to_nobody},
};

int main(int argc, char** argv) {
  const unsigned long batches = number_argument(argc, argv, 3);
  const unsigned long pause_us = number_argument(argc, argv, 5);
  struct work work = {.bytes = (int)number_argument(argc, argv, 2),
                      .operations = number_argument(argc, argv, 4)};
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &work.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void (*body)(const struct work*) = NULL;
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(argv[1], kCases[i].name) == 0 && ranks == kCases[i].ranks) body = kCases[i].body;
  }
  work.out = malloc((size_t)work.bytes + 1);
  work.in = malloc((size_t)work.bytes + 1);
  if (body == NULL || work.out == NULL || work.in == NULL) {
    fprintf(stderr, "%s: no such case on %d ranks, or no memory\n", argv[0], ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  // Pages of its own, not the one page of zeros.
  memset(work.out, 1, (size_t)work.bytes + 1);
  memset(work.in, 2, (size_t)work.bytes + 1);

  struct costs costs = allocate_costs(batches);
  body(&work);  // connections, caches
  MPI_Barrier(MPI_COMM_WORLD);
  start_costs(&costs);
  for (unsigned long i = 0; i < batches; ++i) {
    start_batch(&costs, pause_us);
    body(&work);
    end_batch(&costs);
  }
  end_costs(&costs);

  if (work.rank == 0) {
    print_costs(&costs, work.operations);
    print_memory();
    printf("}\n");
  }
  MPI_Finalize();
  return 0;
}
