// All ranks at once update memory of all ranks, in loops of one kind each, so that similar messages
// are in flight from several ranks to one. The resulting counts are checked. Prints one line that
// depends on the number of ranks only.
//
//     rma_loops [ROUNDS]

#include "common.h"

static int rank, size, rounds = 60;

struct window {
  MPI_Win win;
  MPI_Aint* base;  // of each rank's memory, as a displacement
};

// --- loops ---------------------------------------------------------------------------------------

static void fetch(const struct window* window, int target) {
  const long one = 1;
  long before;
  MPI_Fetch_and_op(&one, &before, MPI_LONG, target, window->base[target], MPI_SUM, window->win);
  MPI_Win_flush(target, window->win);
}

static void accumulate(const struct window* window, int target) {
  const long ones[] = {1, 0, 0, 0};
  MPI_Accumulate(ones, 4, MPI_LONG, target, window->base[target], 4, MPI_LONG, MPI_SUM,
                 window->win);
}

// Until no other rank interfered.
static void compare_and_swap(const struct window* window, int target) {
  long seen = 0, found;
  for (;;) {
    const long next = seen + 1;
    MPI_Compare_and_swap(&next, &seen, &found, MPI_LONG, target, window->base[target], window->win);
    MPI_Win_flush(target, window->win);
    if (found == seen) return;
    seen = found;
  }
}

static void check_count(const long* counter, const char* what) {
  const long expected = (long)rounds * size;
  if (*counter != expected) fail("%s: %ld, not %ld", what, *counter, expected);
}

static void loop(void (*update)(const struct window*, int), const struct window* window, long* own,
                 const char* what) {
  *own = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window->win);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) update(window, (rank + i) % size);
  }
  MPI_Win_unlock_all(window->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win);
  check_count(own, what);
  MPI_Win_unlock(rank, window->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) rounds = atoi(argv[1]);
  struct window window = {.base = allocate((size_t)size * sizeof(MPI_Aint))};
  long* own;

  MPI_Win_allocate(4 * sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window.win);
  memset(own, 0, 4 * sizeof(long));
  loop(fetch, &window, own, "fetch_and_op");
  loop(accumulate, &window, own, "accumulate");
  loop(compare_and_swap, &window, own, "compare_and_swap");
  MPI_Win_free(&window.win);

  own = allocate(4 * sizeof(long));
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
  MPI_Win_attach(window.win, own, 4 * sizeof(long));
  MPI_Aint address;
  MPI_Get_address(own, &address);
  MPI_Allgather(&address, 1, MPI_AINT, window.base, 1, MPI_AINT, MPI_COMM_WORLD);
  loop(accumulate, &window, own, "accumulate in a dynamic window");
  loop(fetch, &window, own, "fetch_and_op in a dynamic window");
  MPI_Win_detach(window.win, own);
  MPI_Win_free(&window.win);

  free(own);
  free(window.base);
  if (rank == 0) printf("rma_loops: %d updates of each of %d ranks\n", 5 * rounds * size, size);
  MPI_Finalize();
  return 0;
}
