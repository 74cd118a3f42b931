#include "log-merger/placement/scotch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

// clang-format off: scotch.h takes FILE and int64_t for known
#include <stdint.h>
#include <stdio.h>
#include <scotch.h>
// clang-format on

namespace uctrace {
namespace {

using placement::Affinity;
using Numbers = std::vector<SCOTCH_Num>;

// Its numbers may have 32 bits, and are added up: so weights are scaled down uniformly, and none
// becomes 0.
SCOTCH_Num shortened(std::uint64_t weight, std::uint64_t unit) {
  return static_cast<SCOTCH_Num>(std::max<std::uint64_t>(1, weight / unit));
}

struct Graph {
  Numbers first, with, weight;
};

Graph graph_of(const Affinity& affinity) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max() / 4);
  std::uint64_t sum = 0;
  for (placement::RankNumber rank = 0; rank < affinity.ranks(); ++rank) {
    for (const placement::Tie& tie : affinity.of(rank)) {
      sum = placement::add_up(sum, tie.weight);
    }
  }
  const std::uint64_t unit = sum / kMost + 1;
  Graph graph;
  for (placement::RankNumber rank = 0; rank < affinity.ranks(); ++rank) {
    graph.first.push_back(static_cast<SCOTCH_Num>(graph.with.size()));
    for (const placement::Tie& tie : affinity.of(rank)) {
      graph.with.push_back(static_cast<SCOTCH_Num>(tie.with));
      graph.weight.push_back(shortened(tie.weight, unit));
    }
  }
  graph.first.push_back(static_cast<SCOTCH_Num>(graph.with.size()));
  return graph;
}

// Parts at equal distances, each with its share.
std::vector<std::uint32_t> partition(const Affinity& affinity,
                                     const std::vector<std::uint32_t>& room) {
  std::vector<std::uint32_t> parts(affinity.ranks(), 0);
  if (affinity.ties() == 0 || room.size() < 2) return parts;
  Graph graph = graph_of(affinity);
  Numbers loads, found(affinity.ranks(), 0);
  for (const std::uint32_t of_part : room) {
    loads.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(of_part)));
  }
  SCOTCH_randomSeed(1);  // the same result for the same run
  SCOTCH_randomReset();
  SCOTCH_Graph scotch_graph;
  SCOTCH_Arch parts_alike;
  SCOTCH_Strat strategy;
  SCOTCH_graphInit(&scotch_graph);
  SCOTCH_archInit(&parts_alike);
  SCOTCH_stratInit(&strategy);
  const auto ranks = static_cast<SCOTCH_Num>(affinity.ranks());
  const auto count = static_cast<SCOTCH_Num>(room.size());
  const bool ok =
      SCOTCH_graphBuild(&scotch_graph, 0, ranks, graph.first.data(), graph.first.data() + 1,
                        nullptr, nullptr, static_cast<SCOTCH_Num>(graph.with.size()),
                        graph.with.data(), graph.weight.data()) == 0 &&
      SCOTCH_archCmpltw(&parts_alike, count, loads.data()) == 0 &&
      SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY, count, 0.0) == 0 &&
      SCOTCH_graphMap(&scotch_graph, &parts_alike, &strategy, found.data()) == 0;
  SCOTCH_stratExit(&strategy);
  SCOTCH_archExit(&parts_alike);
  SCOTCH_graphExit(&scotch_graph);
  if (ok)
    std::transform(found.begin(), found.end(), parts.begin(), [](SCOTCH_Num part) {
      return static_cast<std::uint32_t>(std::max<SCOTCH_Num>(0, part));
    });
  return parts;
}

}  // namespace

std::optional<placement::Partitioner> scotch_partitioner() { return partition; }

}  // namespace uctrace
