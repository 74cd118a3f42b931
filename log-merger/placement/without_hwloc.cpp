// Replaces node_shape.cpp in builds without hwloc.
#include "event-log/reader/error.hpp"
#include "log-merger/placement/node_shape.hpp"

namespace uctrace {

NodeShape shape_in_file(const std::filesystem::path& file) {
  throw Error({.what = "cannot read the topology '" + file.string() + "'",
               .why = "this uctrace was built without hwloc",
               .to_do = "leave --topology out: nodes are taken for cores that are all alike"});
}

std::optional<NodeShape> shape_of_this_machine() { return std::nullopt; }

}  // namespace uctrace
