// Rounds of messages in a ring, parts of which are to be recorded. usage: recorded_parts CASE ...
//
//   pcontrol ROUNDS      MPI_Pcontrol(1) and (0) around two of five parts, each behind a barrier
//   levels ROUNDS        the same, and other levels, with arguments of every kind, behind each part
//   raise ROUNDS         the same by SIGUSR1, which each rank sends itself
//   own-handler ROUNDS   the same, but the program handles SIGUSR1 itself, and says how often
//   until PATH           rounds until there is PATH, after PATH.ready was made
//   rounds ROUNDS        nothing but rounds
//   spans ROUNDS         each round switches by MPI_Pcontrol while its requests are under way;
//   every
//                        fourth time all wait first
//   stuck 0              receives, then waits for a message that nobody sends
//
// Messages of a round have lengths of their own; one in four is a rendezvous.
#include <signal.h>
#include <unistd.h>

#include "common.h"

enum { kTag = 3, kToken = 4, kStuck = 99, kLong = 200000 };

static int rank, size;
static volatile sig_atomic_t handled;

static void count_signal(int number) {
  (void)number;
  ++handled;
}

static void one_round(int round) {
  static unsigned char sent[kLong + 64], received[kLong + 64];
  const int bytes = (round % 4 == 3 ? kLong : 8) + round % 64;
  MPI_Request request;
  MPI_Irecv(received, sizeof received, MPI_BYTE, (rank + size - 1) % size, kTag, MPI_COMM_WORLD,
            &request);
  fill(sent, (size_t)bytes, (uint64_t)round);
  MPI_Send(sent, bytes, MPI_BYTE, (rank + 1) % size, kTag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!holds(received, (size_t)bytes, (uint64_t)round)) fail("round %d: wrong data", round);
}

// While a rank holds the token in its second round, no other message of the job is in flight.
static void pass_token(void) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int token = 0;
  for (int round = 0; round < 2; ++round) {
    if (rank != 0) MPI_Recv(&token, 1, MPI_INT, left, kToken, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000);
    MPI_Send(&token, 1, MPI_INT, right, kToken, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, left, kToken, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void switch_recording(int on, int by_signal) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (!on) pass_token();
  if (by_signal) {
    raise(SIGUSR1);
  } else {
    MPI_Pcontrol(on);
  }
  if (on) pass_token();
}

static void two_of_five_parts(int rounds, int by_signal, int other_levels) {
  for (int part = 0; part < 5; ++part) {
    if (part % 2 == 1) switch_recording(1, by_signal);
    for (int round = 0; round < rounds; ++round) one_round(part * rounds + round);
    if (part % 2 == 1) switch_recording(0, by_signal);
    if (other_levels) {
      MPI_Pcontrol(7, "phase", 2.5, 1, 2L, 3, 4, 5, 6, 0.125f, "end");
      MPI_Pcontrol(-7);
    }
  }
}

static void rounds_until(const char* path) {
  char ready[4096];
  snprintf(ready, sizeof ready, "%s.ready", path);
  int over = 0;
  for (int round = 0; !over; ++round) {
    one_round(round);
    if (rank == 0 && round == 10) fclose(fopen(ready, "w"));
    over = round > 10 && access(path, F_OK) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (round % 16 == 0) usleep(1000);
  }
}

// Persistent requests and others, made and started on one side of a switch, ended on the other.
static void spanning_rounds(int rounds) {
  static unsigned char sent[2][kLong], received[2][kLong];
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Request kept[2], once[2];
  MPI_Recv_init(received[0], kLong, MPI_BYTE, left, kTag, MPI_COMM_WORLD, &kept[0]);
  MPI_Send_init(sent[0], kLong, MPI_BYTE, right, kTag, MPI_COMM_WORLD, &kept[1]);
  for (int round = 0; round < rounds; ++round) {
    const int bytes = round % 3 == 0 ? kLong : 8;
    fill(sent[0], kLong, (uint64_t)round);
    fill(sent[1], (size_t)bytes, (uint64_t)round + 1000);
    MPI_Startall(2, kept);
    MPI_Irecv(received[1], bytes, MPI_BYTE, left, kToken, MPI_COMM_WORLD, &once[0]);
    if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1 - round % 2);
    MPI_Isend(sent[1], bytes, MPI_BYTE, right, kToken, MPI_COMM_WORLD, &once[1]);
    int index, done = 0;
    MPI_Waitany(2, once, &index, MPI_STATUS_IGNORE);
    while (!done) MPI_Testall(2, once, &done, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
    if (!holds(received[0], kLong, (uint64_t)round) ||
        !holds(received[1], (size_t)bytes, (uint64_t)round + 1000)) {
      fail("round %d: wrong data", round);
    }
  }
  MPI_Request_free(&kept[0]);
  MPI_Request_free(&kept[1]);
}

static void get_stuck(void) {
  for (int i = 0; i < 3; ++i) pass_token();
  int never;
  MPI_Recv(&never, 1, MPI_INT, (rank + 1) % size, kStuck, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3) fail("usage: recorded_parts CASE ARGUMENT");
  const char* what = argv[1];
  const int rounds = atoi(argv[2]);
  if (strcmp(what, "pcontrol") == 0) {
    two_of_five_parts(rounds, 0, 0);
  } else if (strcmp(what, "levels") == 0) {
    two_of_five_parts(rounds, 0, 1);
  } else if (strcmp(what, "raise") == 0) {
    two_of_five_parts(rounds, 1, 0);
  } else if (strcmp(what, "own-handler") == 0) {
    signal(SIGUSR1, count_signal);
    two_of_five_parts(rounds, 1, 0);
    printf("rank %d handled %d\n", rank, (int)handled);
  } else if (strcmp(what, "until") == 0) {
    rounds_until(argv[2]);
  } else if (strcmp(what, "spans") == 0) {
    spanning_rounds(rounds);
  } else if (strcmp(what, "stuck") == 0) {
    get_stuck();
  } else {
    for (int round = 0; round < rounds; ++round) one_round(round);
  }
  MPI_Finalize();
  return 0;
}
