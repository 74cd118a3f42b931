// The cores of a node and their packages, from hwloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace uctrace {

struct NodeShape {
  struct Core {
    std::uint32_t package = 0;  // 0, 1, ... of the node
    std::uint32_t cpu = 0;      // its first processor, as the system counts
  };
  std::vector<Core> cores;  // package by package, as hwloc counts (logical numbers)
};

// From a file of hwloc (`lstopo --of xml FILE`). Throws Error for any other file, and in a build
// without hwloc.
NodeShape shape_in_file(const std::filesystem::path& file);

// Of this machine; nullopt: hwloc sees nothing, or is missing.
std::optional<NodeShape> shape_of_this_machine();

}  // namespace uctrace
