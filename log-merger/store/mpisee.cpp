#include "log-merger/store/mpisee.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace uctrace::mpisee {

namespace {

constexpr std::string_view kOperations[] = {"Send",
                                            "Recv",
                                            "Isend",
                                            "Irecv",
                                            "Sendrecv",
                                            "Isendrecv",
                                            "Ssend",
                                            "Issend",
                                            "Rsend",
                                            "Irsend",
                                            "Bsend",
                                            "Ibsend",
                                            "Waitall",
                                            "Wait",
                                            "Waitany",
                                            "Test",
                                            "Testany",
                                            "Testall",
                                            "Put",
                                            "Rput",
                                            "Get",
                                            "Rget",
                                            "Accumulate",
                                            "Raccumulate",
                                            "Fence",
                                            "Win_start",
                                            "Win_complete",
                                            "Win_post",
                                            "Win_wait",
                                            "Win_test",
                                            "Bcast",
                                            "Barrier",
                                            "Allreduce",
                                            "Allgather",
                                            "Allgatherv",
                                            "Alltoall",
                                            "Alltoallv",
                                            "Alltoallw",
                                            "Reduce",
                                            "Gather",
                                            "Gatherv",
                                            "Scan",
                                            "Exscan",
                                            "Scatter",
                                            "Scatterv",
                                            "Reduce_scatter",
                                            "Reduce_scatter_block",
                                            "Iallreduce",
                                            "Ibcast",
                                            "Ialltoall",
                                            "Iscatter",
                                            "Ibarrier",
                                            "Iallgather",
                                            "Iallgatherv",
                                            "Ialltoallv",
                                            "Ialltoallw",
                                            "Ireduce",
                                            "Igather",
                                            "Igatherv",
                                            "Iscan",
                                            "Iexscan",
                                            "Iscatterv",
                                            "Ireduce_scatter",
                                            "Ireduce_scatter_block",
                                            "Neighbor_allgather",
                                            "Neighbor_allgatherv",
                                            "Neighbor_alltoall",
                                            "Neighbor_alltoallv",
                                            "Neighbor_alltoallw",
                                            "Ineighbor_allgather",
                                            "Ineighbor_allgatherv",
                                            "Ineighbor_alltoall",
                                            "Ineighbor_alltoallv",
                                            "Ineighbor_alltoallw",
                                            "Init",
                                            "Init_thread"};

constexpr std::uint64_t kBounds[] = {128, 1024, 8192, 65536, 262144, 1048576, 33554432};
constexpr std::uint64_t kLastBound = 2147483647;

bool is_one_of(std::string_view base, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), base) != names.end();
}

// Separate counts for each process.
bool has_counts(std::string_view base) {
  return is_one_of(base,
                   {"allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw", "reduce_scatter",
                    "neighbor_allgatherv", "neighbor_alltoallv", "neighbor_alltoallw"});
}

}  // namespace

std::span<const std::string_view> operations() { return kOperations; }

std::string operation_name(std::string_view function) {
  if (function == "MPI_Win_fence") return "Fence";
  return std::string(function.starts_with("MPI_") ? function.substr(4) : function);
}

std::uint64_t volume(const MpiName& name, const CallBytes& bytes) {
  const std::uint64_t group = std::max<std::uint32_t>(bytes.group, 1);
  const std::string_view base = name.base;
  switch (name.kind) {
    case MpiKind::p2p:
      if (base == "start" || base == "startall") return bytes.sent + bytes.received;
      return name.only_receives ? bytes.received : bytes.sent;
    case MpiKind::rma:
      if (base.starts_with("win_")) return 0;
      return name.only_receives ? bytes.received : bytes.sent;
    case MpiKind::collective:
      break;
    default:
      return 0;
  }
  // The block for one process, in calls that specify all blocks.
  if (is_one_of(base, {"alltoall", "scatter"})) return bytes.sent / group;
  if (base == "allgather") return bytes.received / group;
  // Only the root's arguments count, or the amount per process is given.
  if (is_one_of(base,
                {"gatherv", "allgatherv", "alltoallw", "reduce_scatter", "reduce_scatter_block"})) {
    return bytes.received;
  }
  // The same count everywhere; the others of a broadcast receive it.
  if (base == "bcast") return std::max(bytes.sent, bytes.received);
  return bytes.sent;
}

Bucket bucket(const MpiName& name, std::uint64_t volume) {
  const bool sized =
      !has_counts(name.base) && name.kind != MpiKind::completion && !name.base.starts_with("win_");
  const auto above = sized ? std::upper_bound(std::begin(kBounds), std::end(kBounds), volume)
                           : std::begin(kBounds);
  return {above == std::begin(kBounds) ? 0 : *(above - 1),
          above == std::end(kBounds) ? kLastBound : *above};
}

}  // namespace uctrace::mpisee
