// Reads the wall clock around nearly empty MPI calls, for the given time: hosts that share it can be
// compared by it.
//
//     clocks TRUTH-PREFIX SECONDS [exit]      exit: the last rank leaves without MPI_Finalize
//
// The truth of a rank has a line for each round: the number of its MPI_Iprobe, from 0, and the
// nanoseconds before and after it.

#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { kCallsPerRound = 40, kRoundMicroseconds = 50000 };

static int64_t wall_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argv[1], rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t end = wall_ns() + atoi(argv[2]) * (int64_t)1000000000;
  long calls = 0;
  while (wall_ns() < end) {
    // The round with the least interruption.
    int64_t before = 0, after = INT64_MAX;
    long which = 0;
    for (int i = 0; i < kCallsPerRound; ++i, ++calls) {
      int flag;
      const int64_t b = wall_ns();
      MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
      const int64_t a = wall_ns();
      if (a - b < after - before) before = b, after = a, which = calls;
    }
    fprintf(truth_file, "{\"rank\":%d,\"call\":%ld,\"before\":%lld,\"after\":%lld}\n", rank, which,
            (long long)before, (long long)after);
    usleep(kRoundMicroseconds);
  }
  fclose(truth_file);
  if (rank == 0) puts("done"), fflush(stdout);
  if (argc > 3 && rank == size - 1) exit(0);
  MPI_Finalize();
  return 0;
}
