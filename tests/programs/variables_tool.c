// Another tool of MPI, which binds a variable of Open MPI's monitoring to MPI_COMM_WORLD inside its MPI_Init, as Open
// MPI's own tool does, and says at the end what the variable counted. Like that one it gives the handle itself instead
// of its address, if VARIABLES_TOOL is "handle". Loaded before or after uctrace.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static int count, bound;

static int bind_to_world(void) {
  int provided, index;
  MPI_Comm comm = MPI_COMM_WORLD;
  const char* gives = getenv("VARIABLES_TOOL");
  void* object = gives != NULL && strcmp(gives, "handle") == 0 ? (void*)(uintptr_t)comm : &comm;
  return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
         MPI_T_pvar_get_index("pml_monitoring_messages_count", MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS &&
         MPI_T_pvar_session_create(&session) == MPI_SUCCESS &&
         MPI_T_pvar_handle_alloc(session, index, object, &handle, &count) == MPI_SUCCESS &&
         MPI_T_pvar_start(session, handle) == MPI_SUCCESS;
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  bound = bind_to_world();
  return result;
}

int MPI_Finalize(void) {
  unsigned long* values = calloc(bound ? (size_t)count : 1, sizeof *values);
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (bound && MPI_T_pvar_read(session, handle, values) == MPI_SUCCESS) {
    for (int peer = 0; peer < count; ++peer) {
      if (values[peer] != 0) printf("variable: %d sent %lu to %d\n", rank, values[peer], peer);
    }
  } else {
    printf("variable: %d could not bind\n", rank);
  }
  fflush(stdout);
  free(values);
  return PMPI_Finalize();
}
