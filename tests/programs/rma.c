// One-sided communication of every kind, 1 B to 4 MiB, on windows made in three ways and in every
// kind of epoch; each content is checked. Each rank writes its neighbour's memory and reads it
// back. Prints one line that depends on the number of ranks only.
//
//     rma [TRUTH-PREFIX]

#include <stddef.h>

#include "common.h"

static const size_t kSizes[] = {1, 8, 1000, 9000, 100000, 4 << 20};
// Larger ones only in epochs of one target: epochs of all targets end by UCX's worker flush, which
// up to 1.13 does not wait for operations queued for lack of resources, so that fences of busy
// ranks end too early.
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kSmallCount = 4 };
enum { kData = 4 << 20, kCounters = 4 };

// What each rank offers: data for its left neighbour, counters for all.
struct memory {
  unsigned char data[kData];
  long counters[kCounters];
};

enum epoch { kFence, kPostStart, kLock, kLockAll };

struct window {
  MPI_Win win;
  MPI_Aint base;  // of the right neighbour's memory, as a displacement
  struct memory* own;
  const char* comm;
};

static int rank, size, right, left;
static MPI_Group right_group, left_group;
static uint64_t checked;

// --- epochs --------------------------------------------------------------------------------------

static void open_epoch(const struct window* window, enum epoch epoch) {
  switch (epoch) {
    case kFence:
      MPI_Win_fence(0, window->win);
      break;
    case kPostStart:
      MPI_Win_post(left_group, 0, window->win);
      MPI_Win_start(right_group, 0, window->win);
      break;
    case kLock:
      MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window->win);
      break;
    case kLockAll:
      MPI_Win_lock_all(0, window->win);
  }
}

static void close_epoch(const struct window* window, enum epoch epoch) {
  switch (epoch) {
    case kFence:
      MPI_Win_fence(0, window->win);
      break;
    case kPostStart:
      MPI_Win_complete(window->win);
      MPI_Win_wait(window->win);
      break;
    case kLock:
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
      // Open MPI 5.0's unlock does not wait for large operations that UCX has queued.
      MPI_Win_flush(right, window->win);
#endif
      MPI_Win_unlock(right, window->win);
      break;
    case kLockAll:
      MPI_Win_flush(right, window->win);
      MPI_Win_unlock_all(window->win);
  }
}

// --- put and get ---------------------------------------------------------------------------------

static void report(const struct window* window, int src, int dst, size_t bytes,
                   const char* function) {
  write_truth((struct sent){.src = src,
                            .dst = dst,
                            .bytes = bytes,
                            .tag = kNoTag,
                            .function = function,
                            .comm = window->comm});
}

static void put(const struct window* window, const unsigned char* from, size_t bytes,
                int with_request) {
  const int count = (int)bytes;
  if (with_request) {
    MPI_Request request;
    MPI_Rput(from, count, MPI_BYTE, right, window->base, count, MPI_BYTE, window->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Put(from, count, MPI_BYTE, right, window->base, count, MPI_BYTE, window->win);
  }
  report(window, rank, right, bytes, with_request ? "MPI_Rput" : "MPI_Put");
}

static void get(const struct window* window, unsigned char* to, size_t bytes, int with_request) {
  const int count = (int)bytes;
  if (with_request) {
    MPI_Request request;
    MPI_Rget(to, count, MPI_BYTE, right, window->base, count, MPI_BYTE, window->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get(to, count, MPI_BYTE, right, window->base, count, MPI_BYTE, window->win);
  }
  report(window, right, rank, bytes, with_request ? "MPI_Rget" : "MPI_Get");
}

static void check_contents(const unsigned char* buffer, size_t bytes, uint64_t seed,
                           const char* what) {
  if (!holds(buffer, bytes, seed)) fail("%s: wrong contents of %zu bytes", what, bytes);
  checked += bytes;
}

static void there_and_back(const struct window* window, enum epoch epoch, size_t bytes,
                           int with_request) {
  unsigned char *sent = allocate(bytes), *got = allocate(bytes);
  const uint64_t seed = bytes * 8 + (uint64_t)epoch * 2 + (uint64_t)with_request;
  fill(sent, bytes, seed + 1000003u * (uint64_t)rank);
  open_epoch(window, epoch);
  put(window, sent, bytes, with_request);
  close_epoch(window, epoch);
  MPI_Barrier(MPI_COMM_WORLD);
  if (epoch == kLock || epoch == kLockAll) {
    // Makes what others wrote visible to plain loads.
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win);
    MPI_Win_sync(window->win);
    MPI_Win_unlock(rank, window->win);
  }
  check_contents(window->own->data, bytes, seed + 1000003u * (uint64_t)left, "put");
  open_epoch(window, epoch);
  get(window, got, bytes, with_request);
  close_epoch(window, epoch);
  check_contents(got, bytes, seed + 1000003u * (uint64_t)rank, "get");
  MPI_Barrier(MPI_COMM_WORLD);
  free(sent);
  free(got);
}

// --- accumulating --------------------------------------------------------------------------------

static MPI_Aint counter(const struct window* window, int i) {
  return window->base + (MPI_Aint)(offsetof(struct memory, counters) + sizeof(long) * (size_t)i);
}

static void expect(const char* what, long found, long expected) {
  if (found != expected) fail("%s: found %ld, expected %ld", what, found, expected);
  checked += 1;
}

// On counters of the right neighbour that only this rank changes.
static void accumulate(const struct window* window) {
  const MPI_Win win = window->win;
  long one = 1, two = 2, three = 3, found = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  MPI_Accumulate(&one, 1, MPI_LONG, right, counter(window, 0), 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_flush(right, win);
  MPI_Get_accumulate(&two, 1, MPI_LONG, &found, 1, MPI_LONG, right, counter(window, 0), 1, MPI_LONG,
                     MPI_SUM, win);
  MPI_Win_flush(right, win);
  expect("MPI_Get_accumulate", found, 1);
  MPI_Fetch_and_op(&three, &found, MPI_LONG, right, counter(window, 0), MPI_REPLACE, win);
  MPI_Win_flush(right, win);
  expect("MPI_Fetch_and_op", found, 3);
  MPI_Compare_and_swap(&two, &three, &found, MPI_LONG, right, counter(window, 0), win);
  MPI_Win_flush(right, win);
  expect("MPI_Compare_and_swap", found, 3);
  MPI_Get_accumulate(NULL, 0, MPI_LONG, &found, 1, MPI_LONG, right, counter(window, 0), 1, MPI_LONG,
                     MPI_NO_OP, win);
  MPI_Win_flush(right, win);
  expect("MPI_Get_accumulate", found, 2);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

// --- windows -------------------------------------------------------------------------------------

static void use(const struct window* window) {
  for (int i = 0; i < kSizeCount; ++i) {
    for (enum epoch epoch = i < kSmallCount ? kFence : kLock; epoch <= kLock; ++epoch) {
      there_and_back(window, epoch, kSizes[i], 0);
    }
    there_and_back(window, kLockAll, kSizes[i], 1);
  }
  there_and_back(window, kLockAll, kSizes[0], 0);
  there_and_back(window, kLock, kSizes[0], 1);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window->win);
  accumulate(window);
}

static void use_created(void) {
  struct window window = {.own = allocate(sizeof(struct memory)), .comm = "MPI_COMM_WORLD"};
  MPI_Win_create(window.own, sizeof *window.own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
  use(&window);
  MPI_Win_free(&window.win);
  free(window.own);
}

static void use_allocated(MPI_Comm comm) {
  struct window window = {.comm = "dup"};
  MPI_Win_allocate(sizeof *window.own, 1, MPI_INFO_NULL, comm, &window.own, &window.win);
  memset(window.own, 0, sizeof *window.own);
  MPI_Barrier(comm);
  use(&window);
  MPI_Win_free(&window.win);
}

// Only puts: to access attached memory, libraries get its description first. A separate
// communicator distinguishes these: not all libraries use UCP's puts here.
static void use_dynamic(MPI_Comm comm) {
  struct window window = {.own = allocate(sizeof(struct memory)), .comm = "dynamic"};
  MPI_Aint own;
  unsigned char* sent = allocate(kData);
  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window.win);
  MPI_Win_attach(window.win, window.own, sizeof *window.own);
  MPI_Get_address(window.own, &own);
  MPI_Sendrecv(&own, 1, MPI_AINT, left, 0, &window.base, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < kSmallCount; ++i) {
    fill(sent, kSizes[i], (uint64_t)(rank * 64 + i));
    MPI_Win_fence(0, window.win);
    put(&window, sent, kSizes[i], 0);
    MPI_Win_fence(0, window.win);
    check_contents(window.own->data, kSizes[i], (uint64_t)(left * 64 + i), "put to a dynamic one");
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  MPI_Win_detach(window.win, window.own);
  MPI_Win_free(&window.win);
  free(window.own);
  free(sent);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &right, &right_group);
  MPI_Group_incl(world, 1, &left, &left_group);
  MPI_Comm dup, dynamic;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_name(dup, "dup");
  MPI_Comm_dup(MPI_COMM_WORLD, &dynamic);
  MPI_Comm_set_name(dynamic, "dynamic");

  use_created();
  use_allocated(dup);
  use_dynamic(dynamic);

  uint64_t total;
  MPI_Reduce(&checked, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("rma: %llu checked\n", (unsigned long long)total);
  MPI_Group_free(&world);
  MPI_Group_free(&right_group);
  MPI_Group_free(&left_group);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&dynamic);
  close_truth();
  MPI_Finalize();
  return 0;
}
