// Looks up functions that not every MPI has, as programs do to use them where available, and calls
// those in this MPI's header. Prints where each name was found.

#define _GNU_SOURCE
#include <dlfcn.h>

#include "common.h"

static void look_for(const char* name) {
  Dl_info found = {0};
  void* address = dlsym(RTLD_DEFAULT, name);
  if (address != NULL) dladdr(address, &found);
  printf("%s: %s\n", name, found.dli_fname != NULL ? found.dli_fname : "none");
}

static void use_what_is_there(int rank, int size) {
#if MPI_VERSION >= 4
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int sent = rank, received = -1;
  MPI_Request requests[2];
  MPI_Irecv_c(&received, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_c(&sent, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (received != left) fail("rank %d received %d", rank, received);
  MPI_Bcast_init(&sent, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  if (sent != 0) fail("rank %d was sent %d", rank, sent);
  // Two partitions, each of two elements.
  int parts[4] = {rank, rank, rank, rank}, got[4] = {0};
  MPI_Precv_init(got, 2, 2, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(parts, 2, 2, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(1, requests[1]);
  MPI_Pready(0, requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; ++i) {
    if (got[i] != left) fail("rank %d got %d in its partitions", rank, got[i]);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
#else
  (void)rank, (void)size;
#endif
}

int main(int argc, char** argv) {
  static const char* const kNames[] = {"MPI_Send_c",      "PMPI_Send_c",      "MPI_Bcast_init",
                                       "MPIX_Bcast_init", "MPI_Session_init", "MPI_Psend_init"};
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; rank == 0 && i < sizeof kNames / sizeof *kNames; ++i) look_for(kNames[i]);
  use_what_is_there(rank, size);
  MPI_Finalize();
  return 0;
}
