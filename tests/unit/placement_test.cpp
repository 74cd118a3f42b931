// Where ranks are put: costs compared with naive ones, results with the best of all placements,
// where there are few enough to try them all.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "placement/improve.hpp"
#include "placement/propose.hpp"
#include "placement/uctrace-placement.h"

namespace uctrace::placement {
namespace {

using Random = std::mt19937_64;
using Matrix = std::vector<std::vector<std::uint64_t>>;  // as it was made: not symmetric

Matrix random_matrix(Random& random, std::size_t ranks, unsigned one_in) {
  Matrix matrix(ranks, std::vector<std::uint64_t>(ranks, 0));
  for (auto& row : matrix) {
    for (auto& weight : row) weight = random() % one_in == 0 ? random() % 1000 : 0;
  }
  return matrix;
}

Affinity affinity_of(const Matrix& matrix) {
  std::vector<Pair> pairs;
  for (RankNumber a = 0; a < matrix.size(); ++a) {
    for (RankNumber b = 0; b < matrix.size(); ++b) pairs.push_back({a, b, matrix[a][b]});
  }
  return Affinity(matrix.size(), pairs);
}

Machine machine_of(std::uint32_t nodes, std::uint32_t packages, std::uint32_t cores) {
  Machine machine;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t core = 0; core < packages * cores; ++core) {
      machine.slots.push_back({node, core / cores, core});
    }
  }
  return machine;
}

// The definition: every pair in both directions.
Cost plain_cost(const Matrix& matrix, const Machine& machine, const Placement& placement) {
  Cost cost = 0;
  for (std::size_t a = 0; a < matrix.size(); ++a) {
    for (std::size_t b = 0; b < matrix.size(); ++b) {
      if (a == b) continue;
      const Slot x = machine.slots[placement[a]], y = machine.slots[placement[b]];
      const std::uint32_t apart = x.node != y.node         ? machine.costs.node
                                  : x.package != y.package ? machine.costs.package
                                  : x.core != y.core       ? machine.costs.core
                                                           : 0;
      cost += Cost{matrix[a][b]} * apart;
    }
  }
  return cost;
}

// Of all ways to give slots to ranks.
Cost least_cost(const Matrix& matrix, const Machine& machine) {
  Placement slots(machine.slots.size());
  std::iota(slots.begin(), slots.end(), 0);
  Cost least = ~Cost{0};
  do {
    least = std::min(least, plain_cost(matrix, machine, slots));
  } while (std::next_permutation(slots.begin(), slots.end()));
  return least;
}

void check_is_placement(const Placement& placement, const Machine& machine) {
  const std::set<std::uint32_t> slots(placement.begin(), placement.end());
  CHECK(slots.size() == placement.size());
  CHECK((slots.empty() || *slots.rbegin() < machine.slots.size()));
}

TEST_CASE("placement: what is told several times, and in both directions, is added up") {
  const Affinity affinity(3, {{0, 1, 5}, {1, 0, 7}, {2, 2, 100}, {1, 2, 0}, {0, 1, 1}});
  REQUIRE(affinity.of(0).size() == 1);
  CHECK(affinity.of(0)[0].with == 1);
  CHECK(affinity.of(0)[0].weight == 13);
  CHECK(affinity.of(2).empty());
  CHECK(affinity.total() == 13);
  CHECK(Affinity(2, {{0, 1, UINT64_MAX}, {0, 1, 2}}).of(1)[0].weight == UINT64_MAX);
}

TEST_CASE("placement: the cost is that of its definition, split by what is crossed") {
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Matrix matrix = random_matrix(random, 12, 1 + i % 4);
    const Machine machine = machine_of(2, 2, 4);
    Placement placement(machine.slots.size());
    std::iota(placement.begin(), placement.end(), 0);
    for (std::size_t k = placement.size(); k > 1; --k) {
      std::swap(placement[k - 1], placement[random() % k]);
    }
    placement.resize(12);
    const Outcome outcome = outcome_of(affinity_of(matrix), machine, placement);
    CHECK(outcome.cost == plain_cost(matrix, machine, placement));
    CHECK(outcome.cost == Cost{outcome.between_nodes} * machine.costs.node +
                              Cost{outcome.between_packages} * machine.costs.package +
                              Cost{outcome.inside} * machine.costs.core);
    const Placement better = improved(affinity_of(matrix), machine, placement);
    check_is_placement(better, machine);
    CHECK(plain_cost(matrix, machine, better) <= outcome.cost);
  }
}

TEST_CASE("placement: the best of all placements is found where there are few") {
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const Matrix matrix = random_matrix(random, 6, 1 + i % 3);
    const Machine machine = i % 2 == 0 ? machine_of(3, 1, 2) : machine_of(2, 1, 3);
    const Placement found =
        proposed(affinity_of(matrix), machine, cyclic(machine, 6), {grow_parts});
    check_is_placement(found, machine);
    CHECK(plain_cost(matrix, machine, found) == least_cost(matrix, machine));
  }
}

TEST_CASE("placement: free slots are used where that is better") {
  // Two pairs, on nodes of two: packed 0,1 | 2,3 cuts both.
  Matrix matrix(4, std::vector<std::uint64_t>(4, 0));
  matrix[0][2] = matrix[1][3] = 10;
  const Machine machine = machine_of(3, 1, 2);
  const Placement found = proposed(affinity_of(matrix), machine, packed(machine, 4), {grow_parts});
  check_is_placement(found, machine);
  CHECK(outcome_of(affinity_of(matrix), machine, found).between_nodes == 0);
}

TEST_CASE("placement: a stencil that was mixed up is found again, and parts are never too full") {
  constexpr RankNumber kWidth = 8;
  Random random(3);
  std::vector<RankNumber> name(kWidth * kWidth);
  std::iota(name.begin(), name.end(), 0);
  for (std::size_t k = name.size(); k > 1; --k) std::swap(name[k - 1], name[random() % k]);
  std::vector<Pair> pairs;
  for (RankNumber i = 0; i < name.size(); ++i) {
    if (i % kWidth + 1 < kWidth) pairs.push_back({name[i], name[i + 1], 1000});
    if (i + kWidth < name.size()) pairs.push_back({name[i], name[i + kWidth], 1000});
  }
  const Affinity affinity(name.size(), pairs);
  const Machine machine = machine_of(4, 2, 8);
  const Placement now = packed(machine, name.size());
  const Placement grown = split_up(affinity, machine, grow_parts);
  check_is_placement(grown, machine);
  // A partitioner that puts all ranks into one part is corrected.
  check_is_placement(split_up(affinity, machine,
                              [](const Affinity& of, const std::vector<std::uint32_t>&) {
                                return std::vector<std::uint32_t>(of.ranks(), 0);
                              }),
                     machine);
  const Placement found = proposed(affinity, machine, now, {grow_parts});
  const Cost before = outcome_of(affinity, machine, now).cost;
  const Cost after = outcome_of(affinity, machine, found).cost;
  CHECK(gain_of(before, after) > 0.65);
  CHECK(static_cast<std::uint64_t>(after) < 2'776'000);  // what it costs row by row, not mixed up
}

TEST_CASE("placement: nothing to place, and nothing to gain") {
  CHECK(proposed(Affinity(0, {}), Machine{}, {}, {grow_parts}).empty());
  const Machine machine = machine_of(2, 1, 2);
  CHECK(proposed(Affinity(4, {}), machine, {3, 2, 1, 0}, {grow_parts}) == Placement{3, 2, 1, 0});
  CHECK(gain_of(0, 0) == 0.0);
  CHECK(gain_of(100, 200) == 0.0);
  CHECK(gain_of(200, 50) == 0.75);
}

TEST_CASE("placement: keys are the ranks that processes take over") {
  // Rank r works with r + 2; nodes hold 0,1 and 2,3.
  const std::uint64_t matrix[16] = {0, 0, 10, 0, 0, 0, 0, 10, 10, 0, 0, 0, 0, 10, 0, 0};
  const int nodes[4] = {7, 7, 9, 9};
  int keys[4];
  double gain = -1;
  REQUIRE(uctrace_placement_keys(4, matrix, nodes, keys, &gain) == UCTRACE_PLACEMENT_OK);
  CHECK(gain == 1.0);
  CHECK(std::set<int>(keys, keys + 4) == std::set<int>{0, 1, 2, 3});
  // The processes of a node do the work of ranks that work together.
  CHECK(std::abs(keys[0] - keys[1]) == 2);
  CHECK(std::abs(keys[2] - keys[3]) == 2);

  const std::uint64_t good[16] = {0, 10, 0, 0, 10, 0, 0, 0, 0, 0, 0, 10, 0, 0, 10, 0};
  REQUIRE(uctrace_placement_keys(4, good, nodes, keys, nullptr) == UCTRACE_PLACEMENT_KEPT);
  CHECK(std::vector<int>(keys, keys + 4) == std::vector<int>{0, 1, 2, 3});
  CHECK(uctrace_placement_keys(0, matrix, nodes, keys, nullptr) == UCTRACE_PLACEMENT_INVALID);
  CHECK(uctrace_placement_keys(4, nullptr, nodes, keys, nullptr) == UCTRACE_PLACEMENT_INVALID);
}

}  // namespace
}  // namespace uctrace::placement
