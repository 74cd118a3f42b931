#include "log-merger/placement/node_shape.hpp"

#include <hwloc.h>

#include <map>
#include <memory>
#include <string>

#include "event-log/reader/error.hpp"

namespace uctrace {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology made() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  // Without devices: these would call their drivers.
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  return Topology(topology);
}

NodeShape shape_of(hwloc_topology_t topology) {
  NodeShape shape;
  std::map<unsigned, std::uint32_t> packages;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
    const auto number = static_cast<std::uint32_t>(packages.size());
    const auto found =
        packages.try_emplace(package != nullptr ? package->logical_index : 0, number).first;
    shape.cores.push_back(
        {found->second, static_cast<std::uint32_t>(hwloc_bitmap_first(core->cpuset))});
  }
  return shape;
}

}  // namespace

NodeShape shape_in_file(const std::filesystem::path& file) {
  const Topology topology = made();
  NodeShape shape;
  if (topology != nullptr && hwloc_topology_set_xml(topology.get(), file.c_str()) == 0 &&
      hwloc_topology_load(topology.get()) == 0) {
    shape = shape_of(topology.get());
  }
  if (shape.cores.empty()) {
    throw Error({.what = "cannot read the topology '" + file.string() + "'",
                 .why = "it is no XML of hwloc in which there are cores",
                 .to_do = "write it on a node by `lstopo --of xml FILE`"});
  }
  return shape;
}

std::optional<NodeShape> shape_of_this_machine() {
  const Topology topology = made();
  if (topology == nullptr || hwloc_topology_load(topology.get()) != 0) return std::nullopt;
  NodeShape shape = shape_of(topology.get());
  return shape.cores.empty() ? std::nullopt : std::optional(std::move(shape));
}

}  // namespace uctrace
