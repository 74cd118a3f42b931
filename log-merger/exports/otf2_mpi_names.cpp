#include "log-merger/exports/otf2_mpi_names.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::exports {
namespace {

constexpr std::pair<std::string_view, OTF2_CollectiveOp> kCollectives[] = {
    {"barrier", OTF2_COLLECTIVE_OP_BARRIER},
    {"bcast", OTF2_COLLECTIVE_OP_BCAST},
    {"gather", OTF2_COLLECTIVE_OP_GATHER},
    {"gatherv", OTF2_COLLECTIVE_OP_GATHERV},
    {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
    {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
    {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
    {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
    {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
    {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"scan", OTF2_COLLECTIVE_OP_SCAN},
    {"exscan", OTF2_COLLECTIVE_OP_EXSCAN}};

OTF2_RegionRole role_of_collective(std::string_view base) {
  if (base == "barrier") return OTF2_REGION_ROLE_BARRIER;
  if (base == "bcast" || base.starts_with("scatter")) return OTF2_REGION_ROLE_COLL_ONE2ALL;
  if (base == "reduce" || base.starts_with("gather")) return OTF2_REGION_ROLE_COLL_ALL2ONE;
  if (base == "scan" || base == "exscan") return OTF2_REGION_ROLE_COLL_OTHER;
  return OTF2_REGION_ROLE_COLL_ALL2ALL;
}

}  // namespace

OTF2_RegionRole role_of(std::string_view function, Layer layer) {
  if (layer == Layer::program) return OTF2_REGION_ROLE_FUNCTION;
  if (layer == Layer::note) return OTF2_REGION_ROLE_ARTIFICIAL;
  if (layer != Layer::mpi) return OTF2_REGION_ROLE_DATA_TRANSFER;
  const MpiName name = parse_mpi_name(function);
  switch (name.kind) {
    case MpiKind::p2p:
    case MpiKind::completion:
      return OTF2_REGION_ROLE_POINT2POINT;
    case MpiKind::rma:
      return OTF2_REGION_ROLE_RMA;
    case MpiKind::collective:
      return role_of_collective(name.base);
    case MpiKind::io:
      return OTF2_REGION_ROLE_FILE_IO;
    case MpiKind::management:
      break;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

std::optional<OTF2_CollectiveOp> collective_of(std::string_view function) {
  const std::string base = parse_mpi_name(function).base;
  for (const auto& [name, op] : kCollectives) {
    if (name == base) return op;
  }
  return std::nullopt;
}

const char* paper_name_of(PartitionEventKind kind) {
  static constexpr const char* kNames[] = {"PsendInit",    "PrecvInit",     "Pready",
                                           "Parrived",     "Ptested",       "PsendRequest",
                                           "PrecvRequest", "PsendComplete", "PrecvComplete"};
  static_assert(std::size(kNames) == kPartitionEventKinds);
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_blocking(std::string_view function) {
  const MpiName name = parse_mpi_name(function);
  if (name.nonblocking || name.persistent) return false;
  if (name.kind == MpiKind::collective) return true;
  return name.kind == MpiKind::p2p && !name.base.starts_with("start") &&
         !name.base.starts_with("pready");
}

bool makes_partitions_ready(std::string_view function) {
  return function.starts_with("MPI_Pready");
}

}  // namespace uctrace::exports
