// Ranks shared among parts of given room, so that those with much to do with each other are
// together: nodes of a machine, packages of a node.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "placement/affinity.hpp"
#include "placement/machine.hpp"

namespace uctrace::placement {

// The part of each rank. `room`: how many each part takes, together as many as there are ranks, or
// more. A result may be too much for a part: split_up() sees to that.
using Partitioner = std::function<std::vector<std::uint32_t>(
    const Affinity& affinity, const std::vector<std::uint32_t>& room)>;

// Fills one part after another with the rank that has most to do with those that are in it.
std::vector<std::uint32_t> grow_parts(const Affinity& affinity,
                                      const std::vector<std::uint32_t>& room);

// Ranks to nodes, those of each node to its packages, and of each package to its cores in turn.
Placement split_up(const Affinity& affinity, const Machine& machine,
                   const Partitioner& partitioner);

}  // namespace uctrace::placement
