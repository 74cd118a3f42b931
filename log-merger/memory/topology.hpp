// The PCI devices of a node and what is between them, as hwloc saw them.
//
// The XML is parsed here, not by hwloc: the file comes with the logs, may be damaged, and is read
// on machines without hwloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

class Topology {
 public:
  // Parses a file of hwloc 2. Throws Error for anything else.
  static Topology parse(std::string_view xml);

  // One of its PCI devices.
  using Device = std::size_t;

  // "0000:10:00.0", in any case of letters.
  std::optional<Device> at_bus(std::string_view bus) const;
  // The device with this system name: mlx5_0, eth0. Nothing if it is not on a PCI bus.
  std::optional<Device> named(std::string_view name) const;

  const std::string& bus_of(Device device) const { return objects_[device].name; }
  // Its NUMA node, as the system counts; -1 = several, or not known.
  std::int32_t numa_node_of(Device device) const;
  Distance distance(Device a, Device b) const;
  // The distance of two NUMA nodes according to the firmware; -1 = not told.
  std::int32_t numa_distance(std::int32_t a, std::int32_t b) const;

 private:
  friend class TopologyReader;

  enum class Kind : std::uint8_t { place, host_bridge, bridge, device, name };
  static constexpr std::size_t kNoObject = SIZE_MAX;
  struct Object {
    Kind kind = Kind::place;
    std::size_t parent = kNoObject;
    std::string name;                  // bus of a device, name of a name
    std::vector<std::uint32_t> nodes;  // of a place: its NUMA nodes, by number
  };

  std::size_t place_of(std::size_t object) const;  // where it is attached
  bool is_whole_machine(std::size_t place) const { return objects_[place].parent == kNoObject; }

  std::vector<Object> objects_;  // parents before children
  std::vector<std::uint32_t> distance_nodes_;
  std::vector<std::uint64_t> distances_;  // square, rows and columns as distance_nodes_
};

}  // namespace uctrace
