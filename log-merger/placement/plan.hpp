// The present and the proposed placement of a run's ranks, and the model's cost of both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "log-merger/placement/node_shape.hpp"
#include "log-merger/placement/rank_matrix.hpp"
#include "placement/machine.hpp"

namespace uctrace {

struct PlacementWish {
  PlacementBy by = PlacementBy::bytes;
  std::optional<std::uint64_t> slots = {};  // ranks per node; default: as many as ran there
  std::filesystem::path topology = {};      // of each node; empty: the known facts
  placement::LevelCosts costs = {};
};

struct PlannedNode {
  std::string host;
  std::uint32_t slots = 0;
  std::optional<NodeShape> shape = {};  // nullopt: its cores count as equal
};

struct Candidate {
  const char* name = "";
  placement::Placement placement;
  placement::Outcome outcome;
};

struct PlacementPlan {
  PlacementBy by = PlacementBy::bytes;
  std::vector<PlannedNode> nodes;
  placement::Machine machine;
  std::vector<Candidate> candidates;  // now, packed, cyclic, proposed
  std::uint64_t total = 0, left_out = 0;
  double gain = 0;  // of `proposed` over `now`, 0 to 1
  bool keep = true;
  bool by_scotch = false;       // SCOTCH was asked, too
  bool is_of_counters = false;  // instead of recorded messages
  std::size_t ranks_without_counters = 0;

  const Candidate& now() const { return candidates.front(); }
  const Candidate& proposed() const { return candidates.back(); }
  const PlannedNode& node_of(std::uint32_t slot) const { return nodes[machine.slots[slot].node]; }
};

// `folder`: the data folder, which may have topologies of nodes, and the counters of a run without
// messages.
PlacementPlan make_plan(const RowSource& source, const std::filesystem::path& folder,
                        const PlacementWish& wish);

}  // namespace uctrace
