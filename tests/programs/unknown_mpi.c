// An unknown MPI library: it has all functions that uctrace calls, and a version text of its own, or
// the one in UNKNOWN_MPI_TEXT. Any call other than for that text before it was recognised ends the
// program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define BOTH(name) __attribute__((alias("PMPI_" #name), visibility("default")))

EXPORTED int PMPI_Get_library_version(char* text, int* length) {
  const char* other = getenv("UNKNOWN_MPI_TEXT");
  *length = sprintf(text, "%s\nbuilt yesterday", other != NULL ? other : "Nobody's MPI 0.1");
  return 0;
}
int MPI_Get_library_version(char* text, int* length) BOTH(Get_library_version);

EXPORTED int PMPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  puts("MPI_Init");
  return 0;
}
int MPI_Init(int* argc, char*** argv) BOTH(Init);

EXPORTED int PMPI_Send(const void* buffer, int count, long type, int to, int tag, long comm) {
  printf("MPI_Send of \"%s\", %d of %lx to %d with %d on %lx\n", (const char*)buffer, count, type,
         to, tag, comm);
  return 17;
}
int MPI_Send(const void* buffer, int count, long type, int to, int tag, long comm) BOTH(Send);

EXPORTED int PMPI_Finalize(void) {
  puts("MPI_Finalize");
  return 0;
}
int MPI_Finalize(void) BOTH(Finalize);

#define NEVER_CALLED(name)         \
  EXPORTED int PMPI_##name(void) { \
    puts("MPI_" #name);            \
    abort();                       \
  }                                \
  int MPI_##name(void) BOTH(name)
NEVER_CALLED(Initialized);
NEVER_CALLED(Finalized);
NEVER_CALLED(Query_thread);
NEVER_CALLED(Comm_rank);
NEVER_CALLED(Comm_size);
NEVER_CALLED(Comm_test_inter);
NEVER_CALLED(Comm_remote_size);
NEVER_CALLED(Comm_group);
NEVER_CALLED(Comm_remote_group);
NEVER_CALLED(Comm_get_parent);
NEVER_CALLED(Group_size);
NEVER_CALLED(Group_translate_ranks);
NEVER_CALLED(Group_free);
NEVER_CALLED(Type_size_x);
NEVER_CALLED(Topo_test);
NEVER_CALLED(Cartdim_get);
NEVER_CALLED(Graph_neighbors_count);
NEVER_CALLED(Dist_graph_neighbors_count);
