#include <string.h>

#include "fake_stack.h"

enum { kTag = 7 };

static ucp_worker_h worker;
static bool initialized, finalized;

static void on_send(void* request, ucs_status_t status, void* user_data) {
  (void)request, (void)status, (void)user_data;
}

static void on_receive(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                       void* user_data) {
  (void)request, (void)status, (void)info;
  *(int*)user_data = 0;
}

// PMPI_X is what MPI_X does, as in a real library.
#define BOTH(Result, name, parameters)                      \
  Result P##name parameters;                                \
  Result name parameters __attribute__((alias("P" #name))); \
  Result P##name parameters

BOTH(int, MPI_Init, (int* argc, char*** argv)) {
  (void)argc, (void)argv;
  initialized = true;
  return ucp_worker_create(NULL, NULL, &worker);
}

BOTH(int, MPI_Finalize, (void)) {
  ucp_worker_destroy(worker);
  finalized = true;
  return 0;
}

BOTH(int, MPI_Irecv,
     (void* buffer, int count, int datatype, int source, int tag, int comm, int* request)) {
  (void)datatype, (void)source, (void)tag, (void)comm;
  if (fake_stack.mpi_uses_ucp) {
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv = on_receive,
        .user_data = request};
    *request = 1;
    ucp_tag_recv_nbx(worker, buffer, (size_t)count, kTag, (ucp_tag_t)-1, &param);
  }
  return 0;
}

BOTH(int, MPI_Send, (const void* buffer, int count, int datatype, int target, int tag, int comm)) {
  (void)datatype, (void)target, (void)tag, (void)comm;
  if (fake_stack.mpi_uses_ucp) {
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                       .cb.send = on_send};
    ucp_tag_send_nbx((ucp_ep_h)worker, buffer, (size_t)count, kTag, &param);
  }
  return 0;
}

BOTH(int, MPI_Sendrecv,
     (const void* out, int out_count, int out_type, int target, int out_tag, void* in, int in_count,
      int in_type, int source, int in_tag, int comm, void* status)) {
  (void)out, (void)out_count, (void)out_type, (void)target, (void)out_tag, (void)in, (void)in_count;
  (void)in_type, (void)source, (void)in_tag, (void)comm, (void)status;
  return 0;
}

BOTH(int, MPI_Wait, (int* request, void* status)) {
  (void)status;
  return *request;
}

// The shims' queries.

int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, "MPICH Version: none, this is a fake");
  *length = (int)strlen(text);
  return 0;
}

int MPIR_Dup_fn(void) { return 0; }  // by which it is known

int PMPI_Initialized(int* flag) {
  *flag = initialized;
  return 0;
}

int PMPI_Finalized(int* flag) {
  *flag = finalized;
  return 0;
}

int PMPI_Query_thread(int* level) {
  *level = 0;  // MPI_THREAD_SINGLE
  return 0;
}

int PMPI_Comm_rank(int comm, int* rank) {
  (void)comm;
  *rank = 0;
  return 0;
}

int PMPI_Comm_size(int comm, int* size) {
  (void)comm;
  *size = 1;
  return 0;
}

int PMPI_Comm_test_inter(int comm, int* flag) {
  (void)comm;
  *flag = 0;
  return 0;
}

int PMPI_Comm_remote_size(int comm, int* size) {
  (void)comm;
  *size = 1;
  return 0;
}

int PMPI_Comm_group(int comm, int* group) {
  *group = comm;
  return 0;
}

int PMPI_Comm_remote_group(int comm, int* group) {
  *group = comm;
  return 0;
}

int PMPI_Comm_get_parent(int* parent) {
  *parent = 0x04000000;  // MPI_COMM_NULL
  return 0;
}

int PMPI_Group_size(int group, int* size) {
  (void)group;
  *size = 1;
  return 0;
}

int PMPI_Group_translate_ranks(int group, int count, const int* ranks, int other, int* translated) {
  (void)group, (void)other;
  memcpy(translated, ranks, (size_t)count * sizeof *ranks);
  return 0;
}

int PMPI_Group_free(int* group) {
  (void)group;
  return 0;
}

int PMPI_Type_size_x(int datatype, long long* size) {
  *size = datatype >> 8 & 0xff;  // where MPICH has it, too
  return 0;
}

// A predefined datatype.

int PMPI_Type_get_extent_x(int datatype, long long* lower, long long* extent) {
  *lower = 0;
  return PMPI_Type_size_x(datatype, extent);
}

int PMPI_Type_get_true_extent_x(int datatype, long long* lower, long long* extent) {
  return PMPI_Type_get_extent_x(datatype, lower, extent);
}

int PMPI_Type_get_name(int datatype, char* name, int* length) {
  (void)datatype;
  strcpy(name, "MPI_BYTE");
  *length = (int)strlen(name);
  return 0;
}

int PMPI_Type_get_envelope(int datatype, int* integers, int* addresses, int* datatypes,
                           int* combiner) {
  (void)datatype;
  *integers = *addresses = *datatypes = 0;
  *combiner = 1;  // MPI_COMBINER_NAMED
  return 0;
}

int PMPI_Topo_test(int comm, int* topology) {
  (void)comm;
  *topology = -32766;  // MPI_UNDEFINED
  return 0;
}

int PMPI_Cartdim_get(int comm, int* dimensions) {
  (void)comm;
  *dimensions = 0;
  return 0;
}

int PMPI_Graph_neighbors_count(int comm, int rank, int* count) {
  (void)comm, (void)rank;
  *count = 0;
  return 0;
}

int PMPI_Dist_graph_neighbors_count(int comm, int* in, int* out, int* weighted) {
  (void)comm;
  *in = *out = *weighted = 0;
  return 0;
}
