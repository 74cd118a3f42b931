// One-sided communication on windows of several communicators, two of them at once, one whose
// communicator is freed before it is used, and one that is made after another was freed, whose
// handle MPI libraries use again. Every result is checked.
//
//     windows [TRUTH-PREFIX]
//
// The truth has a line for each call: who, on which communicator, to which world rank, how many
// bytes are handed over and how many fetched.

#include "channel.h"
#include "common.h"

enum { kRounds = 3, kElements = 1000, kNoTarget = -1 };

static void write_call(const struct channel* channel, const char* function, int target,
                       size_t bytes, size_t fetched) {
  if (truth_file == NULL) return;
  fprintf(truth_file,
          "{\"rank\":%d,\"function\":\"%s\",\"comm\":\"%s\",\"peer\":%d,\"bytes\":%zu,"
          "\"recv_bytes\":%zu}\n",
          channel->world[channel->rank], function, channel->name,
          target >= 0 ? channel->world[target] : target, bytes, fetched);
}

// Rank r of the channel works on slot r of its target's window, so that ranks do not interfere.
struct shared {
  const struct channel* channel;
  MPI_Win window;
  int64_t* memory;  // of this rank: kElements for each rank of the channel
};

static size_t bytes_of(const struct channel* channel) {
  return sizeof(int64_t) * kElements * (size_t)channel->size;
}

static void check_values(const char* function, const int64_t* values, int count, int64_t expected) {
  for (int i = 0; i < count; ++i) {
    if (values[i] != expected + i) {
      fail("%s: element %d is %lld", function, i, (long long)values[i]);
    }
  }
}

static void set_values(int64_t* values, int count, int64_t first) {
  for (int i = 0; i < count; ++i) values[i] = first + i;
}

static void put_and_get(const struct shared* shared, int target, int64_t first) {
  const struct channel* channel = shared->channel;
  const MPI_Aint slot = (MPI_Aint)channel->rank * kElements;
  const size_t bytes = kElements * sizeof(int64_t);
  int64_t out[kElements], in[kElements];
  MPI_Request request;
  set_values(out, kElements, first);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, shared->window);
  write_call(channel, "MPI_Win_lock", target, 0, 0);
  MPI_Put(out, kElements, MPI_INT64_T, target, slot, kElements, MPI_INT64_T, shared->window);
  write_call(channel, "MPI_Put", target, bytes, 0);
  MPI_Win_flush(target, shared->window);
  write_call(channel, "MPI_Win_flush", target, 0, 0);
  MPI_Get(in, kElements, MPI_INT64_T, target, slot, kElements, MPI_INT64_T, shared->window);
  write_call(channel, "MPI_Get", target, 0, bytes);
  MPI_Win_flush_local(target, shared->window);
  write_call(channel, "MPI_Win_flush_local", target, 0, 0);
  check_values("MPI_Get", in, kElements, first);
  set_values(out, 10, first + 5);
  MPI_Rput(out, 10, MPI_INT64_T, target, slot, 10, MPI_INT64_T, shared->window, &request);
  write_call(channel, "MPI_Rput", target, 80, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(target, shared->window);
  write_call(channel, "MPI_Win_flush", target, 0, 0);
  MPI_Rget(in, 10, MPI_INT64_T, target, slot, 10, MPI_INT64_T, shared->window, &request);
  write_call(channel, "MPI_Rget", target, 0, 80);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_values("MPI_Rget", in, 10, first + 5);
  MPI_Win_unlock(target, shared->window);
  write_call(channel, "MPI_Win_unlock", target, 0, 0);
}

static void accumulate(const struct shared* shared, int target, int64_t first) {
  const struct channel* channel = shared->channel;
  const MPI_Aint slot = (MPI_Aint)channel->rank * kElements;
  int64_t one = 1, seen = 0, other = 0, many[4] = {1, 1, 1, 1}, before[4];
  MPI_Request request;
  MPI_Win_lock_all(0, shared->window);
  write_call(channel, "MPI_Win_lock_all", kNoTarget, 0, 0);
  set_values(before, 4, first);
  MPI_Put(before, 4, MPI_INT64_T, target, slot, 4, MPI_INT64_T, shared->window);
  write_call(channel, "MPI_Put", target, 32, 0);
  MPI_Win_flush(target, shared->window);
  write_call(channel, "MPI_Win_flush", target, 0, 0);
  MPI_Accumulate(many, 4, MPI_INT64_T, target, slot, 4, MPI_INT64_T, MPI_SUM, shared->window);
  write_call(channel, "MPI_Accumulate", target, 32, 0);
  MPI_Raccumulate(many, 2, MPI_INT64_T, target, slot, 2, MPI_INT64_T, MPI_SUM, shared->window,
                  &request);
  write_call(channel, "MPI_Raccumulate", target, 16, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_accumulate(many, 4, MPI_INT64_T, before, 4, MPI_INT64_T, target, slot, 4, MPI_INT64_T,
                     MPI_SUM, shared->window);
  write_call(channel, "MPI_Get_accumulate", target, 32, 32);
  MPI_Win_flush(target, shared->window);
  write_call(channel, "MPI_Win_flush", target, 0, 0);
  check_values("MPI_Get_accumulate", before, 2, first + 2);
  check_values("MPI_Get_accumulate", before + 2, 2, first + 3);
  // The operands of MPI_NO_OP are not used.
  MPI_Rget_accumulate(many, 2, MPI_INT64_T, before, 2, MPI_INT64_T, target, slot, 2, MPI_INT64_T,
                      MPI_NO_OP, shared->window, &request);
  write_call(channel, "MPI_Rget_accumulate", target, 0, 16);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_values("MPI_Rget_accumulate", before, 2, first + 3);
  MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, target, slot, MPI_SUM, shared->window);
  write_call(channel, "MPI_Fetch_and_op", target, 8, 8);
  MPI_Win_flush_all(shared->window);
  write_call(channel, "MPI_Win_flush_all", kNoTarget, 0, 0);
  MPI_Compare_and_swap(&one, &(int64_t){first + 4}, &other, MPI_INT64_T, target, slot,
                       shared->window);
  write_call(channel, "MPI_Compare_and_swap", target, 8, 8);
  MPI_Win_unlock_all(shared->window);
  write_call(channel, "MPI_Win_unlock_all", kNoTarget, 0, 0);
  if (seen != first + 3 || other != first + 4) fail("atomics: %lld", (long long)other);
}

static void use(const struct shared* shared, int64_t first) {
  const struct channel* channel = shared->channel;
  const int target = (channel->rank + 1) % channel->size;
  int64_t nothing = 0;
  MPI_Put(&nothing, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, shared->window);
  write_call(channel, "MPI_Put", -2, 0, 0);
  MPI_Win_fence(0, shared->window);
  write_call(channel, "MPI_Win_fence", kNoTarget, 0, 0);
  MPI_Put(&first, 1, MPI_INT64_T, target, (MPI_Aint)channel->rank * kElements, 1, MPI_INT64_T,
          shared->window);
  write_call(channel, "MPI_Put", target, 8, 0);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, shared->window);
  write_call(channel, "MPI_Win_fence", kNoTarget, 0, 0);
  put_and_get(shared, target, first);
  MPI_Barrier(channel->comm);
  accumulate(shared, target, first);
}

static struct shared make_window(const struct channel* channel) {
  struct shared shared = {.channel = channel, .memory = allocate(bytes_of(channel))};
  MPI_Win_create(shared.memory, (MPI_Aint)bytes_of(channel), sizeof(int64_t), MPI_INFO_NULL,
                 channel->comm, &shared.window);
  write_call(channel, "MPI_Win_create", kNoTarget, 0, 0);
  return shared;
}

static void free_window(struct shared* shared) {
  MPI_Win_free(&shared->window);
  write_call(shared->channel, "MPI_Win_free", kNoTarget, 0, 0);
  free(shared->memory);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc > 1 ? argv[1] : NULL, rank);

  // Ranks in one are not those in the world; the other has the same members in their own order.
  MPI_Comm reversed_comm, straight_comm, later_comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed_comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &straight_comm);
  const struct channel reversed = name_channel(reversed_comm, "Reversed");
  const struct channel straight = name_channel(straight_comm, "Straight");
  struct shared first = make_window(&reversed), second = make_window(&straight);
  for (int round = 0; round < kRounds; ++round) {
    use(&first, 1000 * round);
    use(&second, 1000 * round + 500);
  }

  // A window outlives its communicator, whose handle then means another one.
  struct channel outlived = reversed;
  MPI_Comm_free(&reversed_comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank == 0 ? size : rank, &later_comm);
  const struct channel later = name_channel(later_comm, "Later");
  outlived.comm = MPI_COMM_WORLD;  // for the barrier
  first.channel = &outlived;
  use(&first, 7000);
  free_window(&first);
  struct shared third = make_window(&later);
  use(&third, 8000);
  use(&second, 9000);
  free_window(&third);
  free_window(&second);

  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("windows: %d windows are right\n", 3);
  MPI_Comm_free(&straight_comm);
  MPI_Comm_free(&later_comm);
  close_truth();
  MPI_Finalize();
  return 0;
}
