// Built with GCC's AddressSanitizer. Each rank sends its own to the next one.
//
//     asan none|overflow|leak
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ASAN_SETS_OPTIONS
const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "detect_leaks=0"; }
#endif

enum { kLeak = 12345 };

static void overflow(volatile int* numbers) { numbers[4] = 1; }

__attribute__((noinline)) static void leak(void) {
  char* volatile lost = malloc(kLeak);
  lost[0] = 1;
  lost = NULL;
}

int main(int count, char** arguments) {
  int rank, size, got = -1;
  const char* action = count == 2 ? arguments[1] : "none";
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* numbers = malloc(4 * sizeof *numbers);
  numbers[0] = rank;
  MPI_Sendrecv(numbers, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
               (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("asan: rank %d got %d\n", rank, got);
  fflush(stdout);
  if (strcmp(action, "overflow") == 0) overflow(numbers);
  free(numbers);
  if (strcmp(action, "leak") == 0) leak();
  MPI_Finalize();
  return 0;
}
