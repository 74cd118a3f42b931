/* Jobs that hang, each in another shape, and one that does not: `hangs SHAPE [RANKS-FOLDER]`. In
 * the folder each rank leaves a file with its process id, named by its rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kLarge = 1 << 20 }; /* ints: far beyond what is sent eagerly */

static int rank, ranks;
static int* large;

static void sleep_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void compute_for_ever(void) {
  for (;;) sleep_ms(50);
}

static void receive(int source, int tag, MPI_Comm comm) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}

static void send(int destination, int tag, MPI_Comm comm) {
  MPI_Send(&rank, 1, MPI_INT, destination, tag, comm);
}

/* The first two ranks wait for each other's messages. */
static void head_to_head_receives(void) {
  if (rank < 2) receive(1 - rank, 7, MPI_COMM_WORLD);
}

/* Each sends what does not fit into any buffer before it receives. */
static void head_to_head_sends(void) {
  if (rank < 2) {
    MPI_Send(large, kLarge, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD);
    receive(1 - rank, 8, MPI_COMM_WORLD);
  }
}

static void ring(void) { receive((rank + 1) % ranks, 9, MPI_COMM_WORLD); }

static void wrong_tag(void) {
  if (rank == 0) receive(1, 25, MPI_COMM_WORLD);
  if (rank == 1) send(0, 26, MPI_COMM_WORLD);
}

static void wrong_communicator(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
  if (rank == 1) send(0, 5, copy);
}

/* The last rank never comes to the barrier. */
static void missing_in_barrier(void) {
  if (rank == ranks - 1) compute_for_ever();
}

static void mismatched(void) {
  int sum;
  if (rank == ranks - 1) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Rank 0 waits for a message of each other rank; that of rank 1 does not arrive, because rank 1
 * waits for rank 0. */
static void missing_sender(void) {
  if (rank == 1) receive(0, 31, MPI_COMM_WORLD);
  if (rank > 1) send(0, 30, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Request* requests = calloc((size_t)ranks, sizeof *requests);
  int* values = calloc((size_t)ranks, sizeof *values);
  for (int i = 1; i < ranks; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, i, 30, MPI_COMM_WORLD, &requests[i - 1]);
  }
  MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
  free(values);
  free(requests);
}

/* All others are in a barrier already. */
static void nobody_left(void) {
  if (rank == 0) receive(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD);
}

/* The last rank ends MPI while rank 0 waits for its message. */
static void early_end(void) {
  if (rank == 0) receive(ranks - 1, 12, MPI_COMM_WORLD);
}

/* Rank 0 waits for one of the two messages that it began to receive together. Rank 2 waits for rank
 * 0, which does not wait for it. */
static void started_together(void) {
  if (rank == 1) compute_for_ever();
  if (rank == 2) receive(0, 42, MPI_COMM_WORLD);
  if (rank != 0) return;
  int values[2];
  MPI_Request requests[2];
  MPI_Recv_init(&values[0], 1, MPI_INT, 1, 40, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&values[1], 1, MPI_INT, 2, 41, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Rank 0 waits for one of two ranks: rank 1, which waits for rank 0, and another, which computes.
 * */
static void one_of_two(void) {
  if (rank == ranks - 1) compute_for_ever();
  if (rank == 1) receive(0, 44, MPI_COMM_WORLD);
  if (rank != 0) return;
  int values[2], which;
  MPI_Request requests[2];
  MPI_Irecv(&values[0], 1, MPI_INT, 1, 43, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&values[1], 1, MPI_INT, ranks - 1, 43, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
}

static void* receive_in_thread(void* tag) {
  receive(1 - rank, *(int*)tag, MPI_COMM_WORLD);
  return NULL;
}

/* Two threads of each of the first two ranks wait for the other rank. */
static void threads_of_two(void) {
  if (rank > 1) return;
  int tags[2] = {45, 46};
  pthread_t thread;
  pthread_create(&thread, NULL, receive_in_thread, &tags[0]);
  receive_in_thread(&tags[1]);
  pthread_join(thread, NULL);
}

/* All others come to the barrier once they are told to; the last rank never does. */
static void stopped(const char* folder) {
  if (rank == ranks - 1) compute_for_ever();
  char go[4096];
  snprintf(go, sizeof go, "%s/go", folder);
  while (access(go, F_OK) != 0) sleep_ms(10);
}

/* Once it is told to, the last rank aborts the job, while the others wait for it. */
static void aborts(const char* folder) {
  if (rank < ranks - 1) {
    receive(ranks - 1, 13, MPI_COMM_WORLD);
    return;
  }
  char go[4096];
  snprintf(go, sizeof go, "%s/go", folder);
  while (access(go, F_OK) != 0) sleep_ms(10);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void polls(void) {
  if (rank == 0) {
    int value, done = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1, 14, MPI_COMM_WORLD, &request);
    while (!done) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      sleep_ms(1);
    }
  }
  if (rank == 1) receive(0, 15, MPI_COMM_WORLD);
}

/* Rank 0 holds the lock of the window of the last rank, and waits for rank 1, which wants it. */
static void lock_held(void) {
  int value = 0, *base;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, window);
    MPI_Put(&value, 1, MPI_INT, ranks - 1, 0, 1, MPI_INT, window);
    MPI_Win_flush(ranks - 1, window);
    send(1, 16, MPI_COMM_WORLD);
    receive(1, 17, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    receive(0, 16, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, window);
    MPI_Put(&value, 1, MPI_INT, ranks - 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(ranks - 1, window);
    send(0, 17, MPI_COMM_WORLD);
  }
}

/* Ranks 0 and 1 expose their windows to each other, and none accesses the other's. */
static void exposed_to_each_other(void) {
  int* base;
  MPI_Win window;
  MPI_Group world, other;
  const int partner = 1 - rank;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (rank > 1) return;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &partner, &other);
  MPI_Win_post(other, 0, window);
  MPI_Win_wait(window);
}

/* No hang: messages, collective operations and requests without end. */
static void goes_on(const char* folder) {
  char stop[4096];
  snprintf(stop, sizeof stop, "%s/stop", folder);
  int stops = 0, sum, got;
  for (int round = 0; !stops; ++round) {
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Irecv(&got, 1, MPI_INT, before, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 20, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(large, kLarge / 8, MPI_INT, next, 21, large + kLarge / 2, kLarge / 8, MPI_INT,
                 before, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank % 2 == 0 && next != 0) send(next, 22, MPI_COMM_WORLD);
    if (rank % 2 == 1) receive(before, 22, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, round % ranks, MPI_COMM_WORLD);
    sleep_ms(round % 3);
    stops = rank == 0 && access(stop, F_OK) == 0;
    MPI_Bcast(&stops, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

static void leave_id(const char* folder) {
  char name[4096], final[4096];
  snprintf(name, sizeof name, "%s/.%d", folder, rank);
  snprintf(final, sizeof final, "%s/%d.rank", folder, rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename(name, final);
}

/* Even and odd ranks, as two groups. */
static MPI_Comm between_groups(void) {
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - rank % 2, 30, &both);
  MPI_Comm_set_name(both, "both");
  MPI_Comm_free(&group);
  return both;
}

/* Ranks 0 and 1 are rank 0 of the other's remote group. */
static void receives_between_groups(void) {
  MPI_Comm both = between_groups();
  if (rank < 2) receive(0, 31, both);
}

/* Only the ranks of the other group could send. */
static void nobody_between_groups(void) {
  MPI_Comm both = between_groups();
  if (rank == 0) receive(MPI_ANY_SOURCE, 33, both);
}

/* The message has another tag than rank 0 of the other group waits for. */
static void wrong_tag_between_groups(void) {
  MPI_Comm both = between_groups();
  if (rank == 0) receive(0, 34, both);
  if (rank == 1) send(0, 35, both);
}

/* The root computes; the others in its group take no part in the broadcast. */
static void missing_root_between_groups(void) {
  MPI_Comm both = between_groups();
  if (rank == 0) compute_for_ever();
  int value = 0;
  MPI_Bcast(&value, 1, MPI_INT, rank % 2 == 0 ? MPI_PROC_NULL : 0, both);
}

static void missing_between_groups(void) {
  MPI_Comm both = between_groups();
  if (rank == ranks - 1) compute_for_ever();
  MPI_Barrier(both);
}

int main(int argc, char** argv) {
  const char *shape = argv[1], *folder = argv[2];
  int level;
  if (strcmp(shape, "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  large = calloc(kLarge, sizeof *large);
  MPI_Barrier(MPI_COMM_WORLD); /* all are connected */
  leave_id(folder);
  if (strcmp(shape, "receives") == 0) head_to_head_receives();
  if (strcmp(shape, "sends") == 0) head_to_head_sends();
  if (strcmp(shape, "ring") == 0) ring();
  if (strcmp(shape, "tag") == 0) wrong_tag();
  if (strcmp(shape, "communicator") == 0) wrong_communicator();
  if (strcmp(shape, "barrier") == 0) missing_in_barrier();
  if (strcmp(shape, "mismatched") == 0) mismatched();
  if (strcmp(shape, "sender") == 0) missing_sender();
  if (strcmp(shape, "nobody") == 0) nobody_left();
  if (strcmp(shape, "end") == 0) early_end();
  if (strcmp(shape, "startall") == 0) started_together();
  if (strcmp(shape, "waitany") == 0) one_of_two();
  if (strcmp(shape, "threads") == 0) threads_of_two();
  if (strcmp(shape, "stopped") == 0) stopped(folder);
  if (strcmp(shape, "abort") == 0) aborts(folder);
  if (strcmp(shape, "polls") == 0) polls();
  if (strcmp(shape, "lock") == 0) lock_held();
  if (strcmp(shape, "exposures") == 0) exposed_to_each_other();
  if (strcmp(shape, "goes-on") == 0) goes_on(folder);
  if (strcmp(shape, "groups") == 0) receives_between_groups();
  if (strcmp(shape, "group-barrier") == 0) missing_between_groups();
  if (strcmp(shape, "group-any") == 0) nobody_between_groups();
  if (strcmp(shape, "group-tag") == 0) wrong_tag_between_groups();
  if (strcmp(shape, "group-root") == 0) missing_root_between_groups();
  if (strcmp(shape, "end") != 0) MPI_Barrier(MPI_COMM_WORLD);
  free(large);
  MPI_Finalize();
  return 0;
}
