// What one operation costs the thread that asks for it, batch by batch.
//
// usage: message_costs CASE BYTES BATCHES OPERATIONS PAUSE_US
//   self       Irecv, Send and Wait of one message to the own rank (1 rank)
//   pingpong   Send and Recv in turns; an operation is one way (2 ranks)
//   test       one MPI_Test of a receive that nothing arrives for (1 rank)
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
    {"self", 1, exchange_with_self},
    {"pingpong", 2, play_ping_pong},
    {"test", 1, poll_for_nothing},
    {"proc-null", 1, send_to_nobody},
};

static void print_per_operation(const char* name, const uint64_t* ns, unsigned long batches,
                                unsigned long operations) {
  printf("\"%s\":[", name);
  for (unsigned long i = 0; i < batches; ++i) {
    printf("%s%.2f", i > 0 ? "," : "", (double)ns[i] / (double)operations);
  }
  printf("],");
}

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
  work.out = calloc((size_t)work.bytes + 1, 1);
  work.in = calloc((size_t)work.bytes + 1, 1);
  uint64_t* cpu = calloc(batches + 1, sizeof *cpu);
  uint64_t* wall = calloc(batches + 1, sizeof *wall);
  if (body == NULL || work.out == NULL || work.in == NULL || cpu == NULL || wall == NULL) {
    fprintf(stderr, "%s: no such case on %d ranks, or no memory\n", argv[0], ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  body(&work);  // connections, caches
  MPI_Barrier(MPI_COMM_WORLD);
  const int counter = open_instruction_counter();
  const int64_t others_before = other_threads_cpu_ns();
  const uint64_t instructions_before = read_counter(counter);
  for (unsigned long i = 0; i < batches; ++i) {
    if (pause_us > 0) usleep((useconds_t)pause_us);
    const uint64_t cpu_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t wall_start = clock_ns(CLOCK_MONOTONIC);
    body(&work);
    wall[i] = clock_ns(CLOCK_MONOTONIC) - wall_start;
    cpu[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
  }
  const uint64_t instructions = read_counter(counter) - instructions_before;
  const int64_t others = other_threads_cpu_ns() - others_before;
  const double operations = (double)batches * (double)work.operations;

  if (work.rank == 0) {
    printf("{");
    print_per_operation("cpu_ns", cpu, batches, work.operations);
    print_per_operation("wall_ns", wall, batches, work.operations);
    printf("\"other_threads_cpu_ns\":%.2f,", (double)others / operations);
    if (counter >= 0) printf("\"instructions\":%.1f,", (double)instructions / operations);
    print_memory();
    printf("}\n");
  }
  MPI_Finalize();
  return 0;
}
