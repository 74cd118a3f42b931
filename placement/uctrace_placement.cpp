#include <map>
#include <new>
#include <stdexcept>
#include <vector>

#include "placement/propose.hpp"
#include "placement/uctrace-placement.h"

namespace uctrace::placement {
namespace {

// A slot for each rank, on its node. Nodes in the order of their first ranks.
struct Present {
  Machine machine;
  Placement placement;
  std::vector<RankNumber> rank_at;  // of each slot
};

Present present_of(int ranks, const int* node_of_rank) {
  std::map<int, std::uint32_t> numbers;
  std::vector<std::vector<RankNumber>> members;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [found, is_new] =
        numbers.try_emplace(node_of_rank[rank], static_cast<std::uint32_t>(members.size()));
    if (is_new) members.emplace_back();
    members[found->second].push_back(static_cast<RankNumber>(rank));
  }
  Present present;
  present.machine.costs = {1, 0, 0};  // the inside of a node is not known
  present.placement.resize(static_cast<std::size_t>(ranks));
  for (std::uint32_t node = 0; node < members.size(); ++node) {
    std::uint32_t core = 0;
    for (const RankNumber rank : members[node]) {
      present.placement[rank] = static_cast<std::uint32_t>(present.machine.slots.size());
      present.machine.slots.push_back({node, 0, core++});
      present.rank_at.push_back(rank);
    }
  }
  return present;
}

Affinity affinity_of(int ranks, const std::uint64_t* matrix) {
  std::vector<Pair> pairs;
  const auto n = static_cast<RankNumber>(ranks);
  for (RankNumber a = 0; a < n; ++a) {
    for (RankNumber b = 0; b < n; ++b) {
      const std::uint64_t weight = matrix[std::size_t{a} * n + b];
      if (weight != 0 && a != b) pairs.push_back({a, b, weight});
    }
  }
  return Affinity(n, std::move(pairs));
}

int find_keys(int ranks, const std::uint64_t* matrix, const int* node_of_rank, int* keys,
              double* gain) {
  const Affinity affinity = affinity_of(ranks, matrix);
  const Present present = present_of(ranks, node_of_rank);
  const Placement best = proposed(affinity, present.machine, present.placement, {grow_parts});
  const double saved = gain_of(outcome_of(affinity, present.machine, present.placement).cost,
                               outcome_of(affinity, present.machine, best).cost);
  const bool kept = saved < kLeastGain;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint32_t slot = best[static_cast<std::size_t>(rank)];
    if (kept) keys[rank] = rank;
    // The process of this slot does the work of `rank`.
    else
      keys[present.rank_at[slot]] = rank;
  }
  if (gain != nullptr) *gain = kept ? 0.0 : saved;
  return kept ? UCTRACE_PLACEMENT_KEPT : UCTRACE_PLACEMENT_OK;
}

}  // namespace
}  // namespace uctrace::placement

extern "C" __attribute__((visibility("default"))) int uctrace_placement_keys(
    int ranks, const uint64_t* matrix, const int* node_of_rank, int* keys, double* gain) {
  if (ranks <= 0 || matrix == nullptr || node_of_rank == nullptr || keys == nullptr) {
    return UCTRACE_PLACEMENT_INVALID;
  }
  try {
    return uctrace::placement::find_keys(ranks, matrix, node_of_rank, keys, gain);
  } catch (const std::bad_alloc&) {
    return UCTRACE_PLACEMENT_NO_MEMORY;
  } catch (const std::length_error&) {
    return UCTRACE_PLACEMENT_NO_MEMORY;
  }
}
