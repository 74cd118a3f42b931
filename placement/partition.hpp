// Divides ranks among parts of given sizes (nodes of a machine, packages of a node) so that ranks
// with much traffic are together.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "placement/affinity.hpp"
#include "placement/machine.hpp"

namespace uctrace::placement {

// The part of each rank. `room`: how many ranks each part takes, in all at least the number of
// ranks. A result may overfill a part: split_up() corrects that.
using Partitioner = std::function<std::vector<std::uint32_t>(
    const Affinity& affinity, const std::vector<std::uint32_t>& room)>;

// Fills one part after another, each time with the rank most tied to the ranks already in it.
std::vector<std::uint32_t> grow_parts(const Affinity& affinity,
                                      const std::vector<std::uint32_t>& room);

// Ranks to nodes, then the ranks of a node to its packages, then those of a package to its cores in
// turn.
Placement split_up(const Affinity& affinity, const Machine& machine,
                   const Partitioner& partitioner);

}  // namespace uctrace::placement
