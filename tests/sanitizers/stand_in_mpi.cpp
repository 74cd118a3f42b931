// The part of an MPI that the shim needs and the tests call: one rank, and no data is moved.
#include <atomic>
#include <cstring>

#include "tests/sanitizers/stand_in.hpp"

namespace {
std::atomic<int> next_communicator{0x44000010};
std::atomic<int> thread_level{3};  // MPI_THREAD_MULTIPLE
constexpr int kGroup = 0x48000000, kNoCommunicator = 0x04000000;
}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int PMPI_Get_library_version(char* text, int* length) {
  std::strcpy(text, "MPICH, a stand-in");
  *length = static_cast<int>(std::strlen(text));
  return 0;
}
STAND_IN int MPIR_Dup_fn() { return 0; }  // by which it is recognized
STAND_IN int PMPI_Initialized(int* flag) { return *flag = 1, 0; }
STAND_IN int PMPI_Finalized(int* flag) { return *flag = 0, 0; }
STAND_IN int PMPI_Query_thread(int* level) { return *level = thread_level, 0; }
STAND_IN int PMPI_Comm_rank(int, int* rank) { return *rank = 0, 0; }
STAND_IN int PMPI_Comm_size(int, int* size) { return *size = 1, 0; }
STAND_IN int PMPI_Comm_test_inter(int, int* flag) { return *flag = 0, 0; }
STAND_IN int PMPI_Comm_remote_size(int, int* size) { return *size = 1, 0; }
STAND_IN int PMPI_Comm_group(int, int* group) { return *group = kGroup, 0; }
STAND_IN int PMPI_Comm_remote_group(int, int* group) { return *group = kGroup, 0; }
STAND_IN int PMPI_Comm_get_parent(int* parent) { return *parent = kNoCommunicator, 0; }
STAND_IN int PMPI_Group_size(int, int* size) { return *size = 1, 0; }
STAND_IN int PMPI_Group_translate_ranks(int, int count, const int*, int, int* ranks) {
  std::memset(ranks, 0, static_cast<std::size_t>(count) * sizeof *ranks);
  return 0;
}
STAND_IN int PMPI_Group_free(int*) { return 0; }
STAND_IN int PMPI_Type_size_x(int, long long* size) { return *size = 1, 0; }
STAND_IN int PMPI_Topo_test(int, int* topology) { return *topology = 0, 0; }
STAND_IN int PMPI_Cartdim_get(int, int* dimensions) { return *dimensions = 0, 0; }
STAND_IN int PMPI_Graph_neighbors_count(int, int, int* count) { return *count = 0, 0; }
STAND_IN int PMPI_Dist_graph_neighbors_count(int, int* in, int* out, int* weighted) {
  return *in = *out = *weighted = 0, 0;
}
STAND_IN int PMPI_Init(int*, char***) { return 0; }

STAND_IN int MPI_Init_thread(int*, char***, int wanted, int* provided) {
  thread_level = wanted;
  return *provided = wanted, 0;
}
STAND_IN int MPI_Finalize() { return 0; }
STAND_IN int MPI_Send(const void*, int, int, int, int, StandInComm) { return 0; }
STAND_IN int MPI_Irecv(void*, int, int, int, int, StandInComm, int* request) {
  return *request = 1, 0;
}
STAND_IN int MPI_Wait(int* request, int*) { return *request = 0, 0; }
STAND_IN int MPI_Comm_dup(StandInComm, StandInComm* duplicate) {
  return *duplicate = next_communicator.fetch_add(1), 0;
}
STAND_IN int MPI_Comm_free(StandInComm* comm) { return *comm = kNoCommunicator, 0; }
