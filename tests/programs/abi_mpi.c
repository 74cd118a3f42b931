// An MPI library of one process with the standard ABI of MPI 5, under the name that ABI_MPI_NAME
// gives it. It also has the symbols of Open MPI's own ABI, as does libmpi_abi of Open MPI 6;
// uctrace must not rely on these. With ABI_MPI_IS_NATIVE it reports that its ABI is not the
// standard one. ABI_MPI_ONLY_*: one library has the MPI functions, and needs another one that has
// the PMPI functions. ABI_MPI_THREADS is the thread level that it gives, by that ABI's numbers;
// MPI_THREAD_SINGLE else.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))
#define BOTH(name) __attribute__((alias("PMPI_" #name), visibility("default")))

typedef intptr_t Handle;
enum { kWorld = 0x101, kSelf = 0x102, kCommNull = 0x100, kGroup = 0x1001, kByte = 0x247 };
enum { kRequest = 0x2001, kRequestNull = 0x180, kDouble = 0x1003, kCombinerIndexed = 106 };
enum { kUndefined = -32766, kUnknown = 13 };

#define SYMBOL(name) EXPORTED char name[64]
SYMBOL(ompi_mpi_comm_null);
SYMBOL(ompi_mpi_comm_self);
SYMBOL(ompi_mpi_comm_world);
SYMBOL(ompi_mpi_datatype_null);
SYMBOL(ompi_mpi_op_no_op);
SYMBOL(ompi_request_null);
SYMBOL(ompi_mpi_byte);
SYMBOL(ompi_mpi_errors_return);
SYMBOL(ompi_mpi_char);
SYMBOL(ompi_mpi_int);
SYMBOL(ompi_mpi_unsigned_long);

#ifdef ABI_MPI_ONLY_MPI
extern int abi_mpi_initialised, abi_mpi_finalised;
#else
EXPORTED int abi_mpi_initialised, abi_mpi_finalised;
#endif

static void stop(const char* what) {
  fprintf(stderr, "asked about %s\n", what);
  abort();
}

static int is_native(void) { return getenv("ABI_MPI_IS_NATIVE") != NULL; }

static void check_comm(Handle comm) {
  if (comm != kWorld && comm != kSelf && !is_native()) stop("another communicator");
}

#if defined(ABI_MPI_ONLY_MPI)
#define DEFINE(name, ...) EXPORTED int MPI_##name(__VA_ARGS__)
#elif defined(ABI_MPI_ONLY_PMPI)
#define DEFINE(name, ...) EXPORTED int PMPI_##name(__VA_ARGS__)
#else
#define DEFINE(name, ...)                 \
  int MPI_##name(__VA_ARGS__) BOTH(name); \
  EXPORTED int PMPI_##name(__VA_ARGS__)
#endif

DEFINE(Abi_get_version, int* major, int* minor) {
  *major = is_native() ? -1 : 1;
  *minor = is_native() ? -1 : 0;
  return 0;
}
DEFINE(Get_library_version, char* text, int* length) {
  *length = sprintf(text, "%s", getenv("ABI_MPI_NAME"));
  return 0;
}
DEFINE(Init, int* argc, char*** argv) { return (void)argc, (void)argv, abi_mpi_initialised = 1, 0; }
DEFINE(Finalize, void) { return abi_mpi_finalised = 1, 0; }
DEFINE(Initialized, int* flag) { return *flag = abi_mpi_initialised, 0; }
DEFINE(Finalized, int* flag) { return *flag = abi_mpi_finalised, 0; }
DEFINE(Query_thread, int* level) {
  const char* given = getenv("ABI_MPI_THREADS");
  return *level = given != NULL ? atoi(given) : 0, 0;
}
DEFINE(Comm_rank, Handle comm, int* rank) { return check_comm(comm), *rank = 0, 0; }
DEFINE(Comm_size, Handle comm, int* size) { return check_comm(comm), *size = 1, 0; }
DEFINE(Comm_test_inter, Handle comm, int* flag) { return check_comm(comm), *flag = 0, 0; }
DEFINE(Comm_remote_size, Handle comm, int* size) { return (void)comm, (void)size, kUnknown; }
DEFINE(Comm_group, Handle comm, Handle* group) { return check_comm(comm), *group = kGroup, 0; }
DEFINE(Comm_remote_group, Handle comm, Handle* group) { return (void)comm, (void)group, kUnknown; }
DEFINE(Comm_get_parent, Handle* parent) { return *parent = kCommNull, 0; }
DEFINE(Group_size, Handle group, int* size) { return (void)group, *size = 1, 0; }
DEFINE(Group_free, Handle* group) { return *group = 0, 0; }
DEFINE(Group_translate_ranks, Handle from, int count, const int* ranks, Handle to, int* found) {
  (void)from, (void)to;
  for (int i = 0; i < count; ++i) found[i] = ranks[i] == 0 ? 0 : kUndefined;
  return 0;
}
DEFINE(Topo_test, Handle comm, int* topology) {
  return check_comm(comm), *topology = kUndefined, 0;
}
DEFINE(Cartdim_get, Handle comm, int* count) { return (void)comm, (void)count, kUnknown; }
DEFINE(Graph_neighbors_count, Handle comm, int rank, int* count) {
  return (void)comm, (void)rank, (void)count, kUnknown;
}
DEFINE(Dist_graph_neighbors_count, Handle comm, int* in, int* out, int* weighted) {
  return (void)comm, (void)in, (void)out, (void)weighted, kUnknown;
}

static int64_t bytes_of(Handle type) {
  if (type != kByte && type != kDouble) stop("another datatype");
  return type == kByte ? 1 : 16;
}
DEFINE(Type_size_x, Handle type, int64_t* size) { return *size = bytes_of(type), 0; }
DEFINE(Type_get_extent_x, Handle type, int64_t* lower, int64_t* extent) {
  return *lower = 0, *extent = 2 * bytes_of(type), 0;
}
DEFINE(Type_get_true_extent_x, Handle type, int64_t* lower, int64_t* extent) {
  return *lower = 0, *extent = bytes_of(type), 0;
}
DEFINE(Type_get_name, Handle type, char* name, int* length) {
  return *length = sprintf(name, "%s", type == kByte ? "MPI_BYTE" : "pairs"), 0;
}
DEFINE(Type_get_envelope, Handle type, int* integers, int* addresses, int* types, int* combiner) {
  *integers = *addresses = *types = 0;
  return *combiner = type == kByte ? 101 : kCombinerIndexed, 0;
}

DEFINE(Send, const void* data, int count, Handle type, int to, int tag, Handle comm) {
  return (void)data, (void)count, (void)type, (void)to, (void)tag, (void)comm, 0;
}
DEFINE(Recv, void* data, int count, Handle type, int from, int tag, Handle comm, void* status) {
  return (void)data, (void)count, (void)type, (void)from, (void)tag, (void)comm, (void)status, 0;
}
DEFINE(Irecv, void* data, int count, Handle type, int from, int tag, Handle comm, Handle* request) {
  (void)data, (void)count, (void)type, (void)from, (void)tag, (void)comm;
  return *request = kRequest, 0;
}
DEFINE(Wait, Handle* request, void* status) { return (void)status, *request = kRequestNull, 0; }
DEFINE(Bcast, void* data, int count, Handle type, int root, Handle comm) {
  return (void)data, (void)count, (void)type, (void)root, (void)comm, 0;
}
DEFINE(Allgather, const void* in, int count, Handle type, void* out, int out_count, Handle out_type,
       Handle comm) {
  return (void)in, (void)count, (void)type, (void)out, (void)out_count, (void)out_type, (void)comm,
         0;
}
