// Where ranks can run: slots, each a core in a package of a node, and the cost of distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/affinity.hpp"

namespace uctrace::placement {

// The cost of a unit of weight between two slots, by the outermost level at which they differ.
struct LevelCosts {
  std::uint32_t node = 100, package = 10, core = 1;
};

struct Slot {
  std::uint32_t node = 0;
  std::uint32_t package = 0;  // of its node
  std::uint32_t core = 0;     // of its node
};

struct Machine {
  std::vector<Slot> slots;  // node by node, in each package by package
  LevelCosts costs;

  std::uint32_t distance(std::size_t a, std::size_t b) const {
    const Slot &x = slots[a], &y = slots[b];
    return x.node != y.node         ? costs.node
           : x.package != y.package ? costs.package
           : x.core != y.core       ? costs.core
                                    : 0;
  }
};

// The slot of each rank. No slot has two.
using Placement = std::vector<std::uint32_t>;

// Weights times costs may exceed 64 bits.
using Cost = unsigned __int128;

// The result of a placement: its cost, and the weight that crosses each level.
struct Outcome {
  Cost cost = 0;
  std::uint64_t between_nodes = 0, between_packages = 0, inside = 0;
};
Outcome outcome_of(const Affinity& affinity, const Machine& machine, const Placement& placement);

// Packed: slot by slot. Cyclic: one rank to each node in turn. There must be as many slots as
// ranks.
Placement packed(const Machine& machine, std::size_t ranks);
Placement cyclic(const Machine& machine, std::size_t ranks);

}  // namespace uctrace::placement
