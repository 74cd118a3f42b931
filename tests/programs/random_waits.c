// Random steps of messages, collective operations and one-sided epochs. Each rank writes which call
// of which rank each of its calls waited for; a naive reader of the recorded times can derive how
// long. usage: random_waits SEED STEPS TRUTH
//
// Calls are numbered as they are made, MPI_Init is 0. A message carries the number of the call that
// sent it.
#include <time.h>

#include "common.h"

enum { kTag = 3, kStepsAtMost = 1000000 };

static int rank, ranks, calls = 1;
static MPI_Comm ring;
static MPI_Win fenced, posted;       // one for each manner of synchronisation
static MPI_Group group_of_rank[64];  // of that rank alone
static uint64_t shared_state, own_state;

static uint32_t next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static void compute(int64_t us) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void write_messages(int call, int count, const int* sources, const int* numbers) {
  fprintf(truth_file, "{\"call\":%d,\"messages\":[", call);
  for (int i = 0; i < count; ++i) {
    fprintf(truth_file, "%s[%d,%d]", i > 0 ? "," : "", sources[i], numbers[i]);
  }
  fprintf(truth_file, "]}\n");
}

static void write_operation(const char* kind, int step, int root) {
  fprintf(truth_file, "{\"call\":%d,\"kind\":\"%s\",\"step\":%d,\"root\":%d}\n", calls, kind, step,
          root);
}

static void write_epoch(const char* kind, int step, int other) {
  fprintf(truth_file, "{\"call\":%d,\"kind\":\"%s\",\"step\":%d,\"other\":%d}\n", calls++, kind,
          step, other);
}

static void shuffle(int* order) {
  for (int i = 0; i < ranks; ++i) order[i] = i;
  for (int i = ranks - 1; i > 0; --i) {
    const int j = (int)(next(&shared_state) % (uint32_t)(i + 1)), swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

// Neighbours in a shuffled row of ranks.
static void blocking(void) {
  int order[64];
  shuffle(order);
  for (int i = 0; i + 1 < ranks; i += 2) {
    int number = calls;
    if (order[i] == rank) {
      ++calls;
      MPI_Send(&number, 1, MPI_INT, order[i + 1], kTag, MPI_COMM_WORLD);
    } else if (order[i + 1] == rank) {
      const int call = calls++;
      MPI_Recv(&number, 1, MPI_INT, order[i], kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      write_messages(call, 1, &order[i], &number);
    }
  }
}

static void exchange(int one_by_one) {
  const int sources[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  int received[2], sent[2];
  MPI_Request requests[4];
  for (int i = 0; i < 2; ++i) {
    ++calls;
    MPI_Irecv(&received[i], 1, MPI_INT, sources[i], kTag, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < 2; ++i) {
    sent[i] = calls++;
    MPI_Isend(&sent[i], 1, MPI_INT, sources[i], kTag, MPI_COMM_WORLD, &requests[2 + i]);
  }
  if (!one_by_one) {
    const int call = calls++;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    write_messages(call, 2, sources, received);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    int which;
    const int call = calls++;
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    write_messages(call, 1, &sources[which], &received[which]);
  }
  ++calls;
  MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE);
}

// The same: the first of two puts into the second. The barrier is for MPICH 4.0, where
// MPI_Win_start does not return once two processes have posted to the caller: the second one's was
// for a later step.
static void epochs(int step) {
  write_operation("wait_barrier", 2 * kStepsAtMost + step, 0);
  ++calls;
  MPI_Barrier(MPI_COMM_WORLD);
  int order[64];
  shuffle(order);
  for (int i = 0; i + 1 < ranks; i += 2) {
    const int origin = order[i], target = order[i + 1];
    if (origin == rank) {
      write_epoch("start", step, target);
      MPI_Win_start(group_of_rank[target], 0, posted);
      compute(next(&own_state) % 500);
      write_epoch("put", step, target);
      MPI_Put(&rank, 1, MPI_INT, target, 0, 1, MPI_INT, posted);
      compute(next(&own_state) % 500);
      write_epoch("complete", step, target);
      MPI_Win_complete(posted);
    } else if (target == rank) {
      write_epoch("post", step, origin);
      MPI_Win_post(group_of_rank[origin], 0, posted);
      compute(next(&own_state) % 500);
      write_epoch("wait", step, origin);
      MPI_Win_wait(posted);
    }
  }
}

// Into the right neighbour, between two fences.
static void fences(int step) {
  write_operation("rma_wait_at_fence", step, 0);
  ++calls;
  MPI_Win_fence(0, fenced);
  ++calls;
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, fenced);
  compute(next(&own_state) % 1000);
  write_operation("rma_wait_at_fence", kStepsAtMost + step, 0);
  ++calls;
  MPI_Win_fence(0, fenced);
}

static void make_windows(void) {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < ranks; ++i) MPI_Group_incl(world, 1, &i, &group_of_rank[i]);
  int* memory;
  write_operation("rma_wait_at_create", -2, 0);
  ++calls;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &fenced);
  compute(next(&own_state) % 1000);
  write_operation("rma_wait_at_create", -3, 0);
  ++calls;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &posted);
}

static void free_windows(void) {
  write_operation("rma_wait_at_create", -4, 0);
  ++calls;
  MPI_Win_free(&fenced);
  write_operation("rma_wait_at_create", -5, 0);
  ++calls;
  MPI_Win_free(&posted);
}

static void collective(int which, int step) {
  int in = rank, out = 0;
  const int root = (int)(next(&shared_state) % (uint32_t)ranks);
  static const char* const kKinds[] = {"wait_barrier", "wait_nxn",       "late_broadcast",
                                       "early_reduce", "early_scan",     "wait_nxn",
                                       "wait_nxn",     "wait_neighbours"};
  int out_of_each[64] = {0}, in_of_each[64], ones[64], offsets[64], of_neighbours[2];
  for (int i = 0; i < ranks; ++i) {
    ones[i] = 1;
    offsets[i] = i;
  }
  write_operation(kKinds[which], step, root);
  ++calls;
  switch (which) {
    case 0:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case 2:
      MPI_Bcast(&in, 1, MPI_INT, root, MPI_COMM_WORLD);
      break;
    case 3:
      MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      break;
    case 4:
      MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case 5:
      MPI_Alltoallv(out_of_each, ones, offsets, MPI_INT, in_of_each, ones, offsets, MPI_INT,
                    MPI_COMM_WORLD);
      break;
    case 6: {
      MPI_Comm copy;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      break;  // its end may be waited for, too: it is left to MPI_Finalize
    }
    default:
      MPI_Neighbor_allgather(&in, 1, MPI_INT, of_neighbours, 1, MPI_INT, ring);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) fail("usage: random_waits SEED STEPS TRUTH");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  open_truth(argv[3], rank);
  shared_state = strtoull(argv[1], NULL, 10);
  own_state = shared_state * 31 + (uint64_t)rank;
  const int steps = atoi(argv[2]), periodic = 1;
  write_operation("wait_nxn", -1, 0);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  ++calls;
  make_windows();
  for (int step = 0; step < steps; ++step) {
    compute(next(&own_state) % 2000);
    const uint32_t which = next(&shared_state) % 15;
    if (which == 0) {
      blocking();
    } else if (which < 3) {
      exchange(which == 2);
    } else if (which < 5) {
      fences(step);
    } else if (which < 7) {
      epochs(step);
    } else {
      collective((int)which - 7, step);
    }
  }
  free_windows();
  fclose(truth_file);
  MPI_Finalize();
  return 0;
}
