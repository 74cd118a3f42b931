// What mpisee counts for a call: each rule, from the bytes that one rank sent and received in it.
#include "log-merger/store/mpisee.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace uctrace {
namespace {

using mpisee::CallBytes;

std::uint64_t volume(const char* function, CallBytes bytes) {
  return mpisee::volume(parse_mpi_name(function), bytes);
}

TEST_CASE("names say what functions do, in all their forms") {
  const auto is = [](const char* function, const char* base, MpiKind kind) {
    CAPTURE(function);
    const MpiName name = parse_mpi_name(function);
    CHECK(name.base == base);
    CHECK(std::string(name_of(name.kind)) == name_of(kind));
  };
  is("MPI_Send", "send", MpiKind::p2p);
  is("MPI_Isend_c", "send", MpiKind::p2p);
  is("MPI_Ssend_init", "ssend", MpiKind::p2p);
  is("MPI_Isendrecv_replace", "sendrecv_replace", MpiKind::p2p);
  is("MPI_Psend_init", "psend", MpiKind::p2p);
  is("MPI_Pready_range", "pready_range", MpiKind::p2p);
  is("MPI_Startall", "startall", MpiKind::p2p);
  is("MPI_Improbe", "mprobe", MpiKind::completion);
  is("MPI_Waitall", "waitall", MpiKind::completion);
  is("MPI_Request_free", "request_free", MpiKind::completion);
  is("MPI_Iallgatherv_c", "allgatherv", MpiKind::collective);
  is("MPI_Ineighbor_alltoallw", "neighbor_alltoallw", MpiKind::collective);
  is("MPIX_Bcast_init", "bcast", MpiKind::collective);
  is("MPI_Win_fence", "win_fence", MpiKind::rma);
  is("MPI_Rget_accumulate", "rget_accumulate", MpiKind::rma);
  is("MPI_File_iread", "file_iread", MpiKind::io);
  is("MPI_Init", "init", MpiKind::management);
  is("MPI_Init_thread", "init_thread", MpiKind::management);
  is("MPI_Intercomm_create", "intercomm_create", MpiKind::management);
  is("MPI_Comm_idup", "comm_idup", MpiKind::management);
  CHECK(parse_mpi_name("MPI_Ibcast").nonblocking);
  CHECK(parse_mpi_name("MPI_Recv_init").persistent);
  CHECK_FALSE(parse_mpi_name("MPI_Init").persistent);
}

TEST_CASE("volumes are those of the arguments") {
  CHECK(volume("MPI_Isend", {80, 0, 4}) == 80);
  CHECK(volume("MPI_Recv", {0, 80, 4}) == 80);
  CHECK(volume("MPI_Get", {0, 80, 4}) == 80);
  CHECK(volume("MPI_Startall", {80, 40, 4}) == 120);
  CHECK(volume("MPI_Sendrecv", {80, 40, 4}) == 80);
  CHECK(volume("MPI_Put", {80, 0, 4}) == 80);
  CHECK(volume("MPI_Bcast", {80, 0, 4}) == 80);  // the root
  CHECK(volume("MPI_Bcast", {0, 80, 4}) == 80);
  for (const char* function : {"MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Gather"}) {
    CAPTURE(function);
    CHECK(volume(function, {80, 320, 4}) == 80);
  }
  CHECK(volume("MPI_Exscan", {80, 0, 4}) == 80);  // rank 0 receives nothing
  CHECK(volume("MPI_Allgather", {80, 320, 4}) == 80);
  CHECK(volume("MPI_Ialltoall", {320, 320, 4}) == 80);
  CHECK(volume("MPI_Scatter", {320, 80, 4}) == 80);  // the root
  CHECK(volume("MPI_Scatter", {0, 80, 4}) == 0);
  CHECK(volume("MPI_Gatherv", {80, 300, 4}) == 300);
  CHECK(volume("MPI_Gatherv", {80, 0, 4}) == 0);
  CHECK(volume("MPI_Scatterv", {300, 80, 4}) == 300);
  CHECK(volume("MPI_Allgatherv", {80, 300, 4}) == 300);
  CHECK(volume("MPI_Alltoallv", {300, 200, 4}) == 300);
  CHECK(volume("MPI_Alltoallw", {300, 200, 4}) == 200);
  CHECK(volume("MPI_Reduce_scatter", {300, 90, 4}) == 90);
  CHECK(volume("MPI_Reduce_scatter_block", {320, 80, 4}) == 80);
  CHECK(volume("MPI_Neighbor_allgather", {80, 160, 4}) == 80);
  CHECK(volume("MPI_Barrier", {0, 0, 4}) == 0);
  CHECK(volume("MPI_Waitall", {0, 0, 4}) == 0);
  CHECK(volume("MPI_Alltoall", {320, 320, 0}) == 320);  // a group of unknown size
}

TEST_CASE("buckets begin at their least size, and forms with counts have none") {
  const auto bucket = [](const char* function, std::uint64_t volume) {
    const mpisee::Bucket found = mpisee::bucket(parse_mpi_name(function), volume);
    return std::pair(found.min, found.max);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(bucket("MPI_Send", 0) == Pair(0, 128));
  CHECK(bucket("MPI_Send", 127) == Pair(0, 128));
  CHECK(bucket("MPI_Send", 128) == Pair(128, 1024));
  CHECK(bucket("MPI_Allreduce", 2048) == Pair(1024, 8192));
  CHECK(bucket("MPI_Bcast", 33554432) == Pair(33554432, 2147483647));
  CHECK(bucket("MPI_Bcast", 1ull << 40) == Pair(33554432, 2147483647));
  for (const char* function :
       {"MPI_Alltoallv", "MPI_Igatherv", "MPI_Reduce_scatter", "MPI_Wait", "MPI_Win_fence"}) {
    CAPTURE(function);
    CHECK(bucket(function, 1 << 20) == Pair(0, 128));
  }
  CHECK(bucket("MPI_Reduce_scatter_block", 1 << 10) == Pair(1024, 8192));
  CHECK(bucket("MPI_Recv", 1 << 10) == Pair(1024, 8192));
}

TEST_CASE("its operations are numbered as its script has them") {
  const auto all = mpisee::operations();
  CHECK(all.size() == 76);
  CHECK(all.front() == "Send");
  CHECK(all.back() == "Init_thread");
  const auto at = [&](std::string_view name) {
    return std::find(all.begin(), all.end(), name) - all.begin();
  };
  CHECK(at("Sendrecv") == 4);
  CHECK(at(mpisee::kLastPointToPoint) == 11);
  CHECK(at(mpisee::kFirstCollective) == 30);
  CHECK(mpisee::operation_name("MPI_Win_fence") == "Fence");
  CHECK(mpisee::operation_name("MPI_Win_start") == "Win_start");
}

}  // namespace
}  // namespace uctrace
