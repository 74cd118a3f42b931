#include "placement/machine.hpp"

namespace uctrace::placement {

Outcome outcome_of(const Affinity& affinity, const Machine& machine, const Placement& placement) {
  Outcome outcome;
  for (RankNumber rank = 0; rank < affinity.ranks(); ++rank) {
    for (const Tie& tie : affinity.of(rank)) {
      if (tie.with < rank) continue;
      const std::uint32_t own = placement[rank], other = placement[tie.with];
      outcome.cost += Cost{tie.weight} * machine.distance(own, other);
      const Slot &x = machine.slots[own], &y = machine.slots[other];
      std::uint64_t& level = x.node != y.node         ? outcome.between_nodes
                             : x.package != y.package ? outcome.between_packages
                                                      : outcome.inside;
      level = add_up(level, tie.weight);
    }
  }
  return outcome;
}

Placement packed(const Machine&, std::size_t ranks) {
  Placement placement(ranks);
  for (std::size_t i = 0; i < ranks; ++i) placement[i] = static_cast<std::uint32_t>(i);
  return placement;
}

Placement cyclic(const Machine& machine, std::size_t ranks) {
  std::vector<std::vector<std::uint32_t>> free;  // slots of each node, the first one first
  for (std::size_t i = 0; i < machine.slots.size(); ++i) {
    const std::uint32_t node = machine.slots[i].node;
    if (free.size() <= node) free.resize(node + 1);
    free[node].push_back(static_cast<std::uint32_t>(i));
  }
  Placement placement;
  for (std::size_t round = 0; placement.size() < ranks; ++round) {
    for (const auto& node : free) {
      if (round < node.size() && placement.size() < ranks) placement.push_back(node[round]);
    }
  }
  return placement;
}

}  // namespace uctrace::placement
