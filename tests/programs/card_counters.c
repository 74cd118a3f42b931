// Ranks that exchange data while the counter files of network cards change. usage: card_counters
// TREE AFTER [kill] AFTER takes the place of TREE during the job
#include <signal.h>
#include <unistd.h>

#include "common.h"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 3) fail("usage: card_counters TREE AFTER [kill]");
  char* buffer = allocate(1 << 16);
  MPI_Sendrecv_replace(buffer, 1 << 16, MPI_CHAR, (rank + 1) % ranks, 0,
                       (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    char before[4096];
    snprintf(before, sizeof before, "%s.before", arguments[1]);
    if (rename(arguments[1], before) != 0 || rename(arguments[2], arguments[1]) != 0) {
      fail("cannot rename %s", arguments[2]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (count > 3) kill(getpid(), SIGKILL);
  free(buffer);
  MPI_Finalize();
  return 0;
}
