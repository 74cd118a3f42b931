// Sends in every way that uctrace's counters distinguish, and prints what it sent: "message CLASS RANK
// PEER BYTES", ranks in MPI_COMM_WORLD; "call one-to-all RANK BYTES" of a collective call. With the
// argument `wait FOLDER` it creates FOLDER/there.RANK after sending, and continues when FOLDER/go exists;
// with `die` rank 0 then kills itself.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };
static char out[ROOM], in[ROOM];
static int rank, size;

// A launcher forwards a rank's output in pieces of this size, interleaved with those of other ranks: no
// line may be split.
enum { OUTPUT_ROOM = 4096 };
static int written;

static void was_written(int bytes) {
  written += bytes;
  if (written <= OUTPUT_ROOM) return;
  fprintf(stderr, "the output is longer than a launcher hands on in one piece\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void say_message(const char* class, int peer, long bytes) {
  was_written(printf("message %s %d %d %ld\n", class, rank, peer, bytes));
}

static void say_call(const char* kind, long bytes) { was_written(printf("call %s %d %ld\n", kind, rank, bytes)); }

static int world_rank(MPI_Comm comm, int peer) {
  MPI_Group world, group;
  int found;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(comm, &group);
  MPI_Group_translate_ranks(group, 1, &peer, world, &found);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return found;
}

// In a ring of the communicator.
static void ring(MPI_Comm comm, int count, MPI_Datatype type, long bytes) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  const int next = (me + 1) % members, previous = (me + members - 1) % members;
  MPI_Request requests[2];
  MPI_Irecv(in, count, type, previous, 3, comm, &requests[0]);
  MPI_Isend(out, count, type, next, 3, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  say_message("external", world_rank(comm, next), bytes);
  MPI_Sendrecv(out, count, type, next, 4, in, count, type, previous, 4, comm, MPI_STATUS_IGNORE);
  say_message("external", world_rank(comm, next), bytes);
}

static void persistent(MPI_Comm comm) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  const int next = (me + 1) % members, previous = (me + members - 1) % members;
  MPI_Request requests[2];
  MPI_Send_init(out, 3000, MPI_INT, next, 5, comm, &requests[0]);
  MPI_Recv_init(in, 3000, MPI_INT, previous, 5, comm, &requests[1]);
  for (int i = 0; i < 4; ++i) {
    if (i % 2 == 0) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say_message("external", world_rank(comm, next), 12000);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void to_each(MPI_Comm comm, const char* kind, long bytes, int counts) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  if (!counts) return;
  for (int i = 0; i < members; ++i) {
    if (i != me) say_message("collective", world_rank(comm, i), bytes);
  }
  say_call(kind, bytes * (members - 1));
}

static void collective_calls(MPI_Comm comm) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  const int root = members - 1;
  MPI_Barrier(comm);
  to_each(comm, "all-to-all", 0, 1);
  MPI_Bcast(out, 100, MPI_INT, root, comm);
  to_each(comm, "one-to-all", 400, me == root);
  MPI_Reduce(out, in, 7, MPI_INT, MPI_SUM, root, comm);
  to_each(comm, "all-to-one", 28, me == root);
  MPI_Gather(out, 9, MPI_INT, in, 9, MPI_INT, root, comm);
  to_each(comm, "all-to-one", 36, me == root);
  MPI_Scatter(out, 5, MPI_INT, in, 5, MPI_INT, root, comm);
  to_each(comm, "one-to-all", 20, me == root);
  MPI_Allreduce(out, in, 11, MPI_INT, MPI_SUM, comm);
  to_each(comm, "all-to-all", 44, 1);
  MPI_Allreduce(MPI_IN_PLACE, in, 11, MPI_INT, MPI_SUM, comm);
  to_each(comm, "all-to-all", 44, 1);
  MPI_Allgather(out, 13, MPI_INT, in, 13, MPI_INT, comm);
  to_each(comm, "all-to-all", 52, 1);
  MPI_Alltoall(out, 17, MPI_INT, in, 17, MPI_INT, comm);
  to_each(comm, "all-to-all", 68, 1);
  MPI_Request request;
  MPI_Iallreduce(out, in, 19, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  to_each(comm, "all-to-all", 76, 1);
  int* counts = calloc(members, sizeof *counts);
  int* places = calloc(members, sizeof *places);
  long sum = 0;
  for (int i = 0; i < members; ++i) counts[i] = 3 + i, places[i] = i * 100;
  int* received = calloc(members, sizeof *received);
  for (int i = 0; i < members; ++i) received[i] = 3 + me;
  MPI_Alltoallv(out, counts, places, MPI_INT, in, received, places, MPI_INT, comm);
  for (int i = 0; i < members; ++i) {
    if (i == me) continue;
    say_message("collective", world_rank(comm, i), 4 * counts[i]);
    sum += 4 * counts[i];
  }
  say_call("all-to-all", sum);
  MPI_Scan(out, in, 21, MPI_INT, MPI_SUM, comm);
  for (int i = me + 1; i < members; ++i) say_message("collective", world_rank(comm, i), 84);
  say_call("all-to-all", 84L * (members - 1 - me));
  free(counts);
  free(places);
  free(received);
}

static void neighbors(void) {
  const int periodic = 0;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  int left, right;
  MPI_Cart_shift(line, 0, 1, &left, &right);
  MPI_Neighbor_alltoall(out, 6, MPI_INT, in, 6, MPI_INT, line);
  long sum = 0;
  const int both[2] = {left, right};
  for (int i = 0; i < 2; ++i) {
    if (both[i] == MPI_PROC_NULL) continue;
    say_message("collective", world_rank(line, both[i]), 24);
    sum += 24;
  }
  say_call("all-to-all", sum);
  MPI_Comm_free(&line);
}

static void one_sided(void) {
  MPI_Win window;
  MPI_Win_create(in, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const int target = (rank + 1) % size;
  MPI_Win_fence(0, window);
  MPI_Put(out, 200, MPI_CHAR, target, 0, 200, MPI_CHAR, window);
  say_message("one-sided-sent", target, 200);
  MPI_Win_fence(0, window);
  MPI_Get(out, 300, MPI_CHAR, target, 0, 300, MPI_CHAR, window);
  say_message("one-sided-received", target, 300);
  MPI_Win_fence(0, window);
  MPI_Accumulate(out, 10, MPI_INT, target, 0, 10, MPI_INT, MPI_SUM, window);
  say_message("one-sided-sent", target, 40);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void wait_at(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/there.%d", folder, rank);
  fclose(fopen(path, "w"));
  snprintf(path, sizeof path, "%s/go", folder);
  while (access(path, F_OK) != 0) usleep(10000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm reversed, halves;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  MPI_Datatype column;
  MPI_Type_vector(100, 1, 10, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (long bytes = 0; bytes <= 200000; bytes = bytes == 0 ? 1 : bytes * 3) {
    ring(MPI_COMM_WORLD, (int)bytes, MPI_CHAR, bytes);
  }
  ring(reversed, 1, column, 400);
  ring(halves, 50, MPI_INT, 200);
  MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  persistent(reversed);
  collective_calls(MPI_COMM_WORLD);
  collective_calls(reversed);
  neighbors();
  one_sided();
  MPI_Type_free(&column);
  if (argc > 2 && strcmp(argv[1], "wait") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    to_each(MPI_COMM_WORLD, "all-to-all", 0, 1);
    fflush(stdout);
    wait_at(argv[2]);
  }
  if (argc > 1 && strcmp(argv[1], "die") == 0) {
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) raise(SIGKILL);
    for (;;) pause();
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&halves);
  MPI_Finalize();
  return 0;
}
