// The collective operations of UCC, in the order of their bits in ucc_coll_type_t.
#pragma once

#include <cstdint>
#include <iterator>

namespace uctrace::log {

enum class UccOperation : std::uint8_t {
  allgather,
  allgatherv,
  allreduce,
  alltoall,
  alltoallv,
  barrier,
  bcast,
  fanin,
  fanout,
  gather,
  gatherv,
  reduce,
  reduce_scatter,
  reduce_scatterv,
  scatter,
  scatterv,
  kCount
};

inline constexpr const char* kUccOperationNames[] = {
    "allgather",      "allgatherv",      "allreduce", "alltoall", "alltoallv", "barrier",
    "bcast",          "fanin",           "fanout",    "gather",   "gatherv",   "reduce",
    "reduce_scatter", "reduce_scatterv", "scatter",   "scatterv"};
static_assert(std::size(kUccOperationNames) == static_cast<std::size_t>(UccOperation::kCount));

}  // namespace uctrace::log
