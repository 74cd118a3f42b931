#include "placement/propose.hpp"

#include <random>
#include <utility>

#include "placement/improve.hpp"

namespace uctrace::placement {
namespace {

constexpr std::size_t kFewRanks = 64;
constexpr int kMixed = 24;

// Not by std::shuffle, whose result differs among libraries.
Placement mixed(const Placement& placement, std::uint64_t seed) {
  Placement result = placement;
  std::mt19937_64 random(seed);
  for (std::size_t i = result.size(); i > 1; --i) std::swap(result[i - 1], result[random() % i]);
  return result;
}

}  // namespace

double gain_of(Cost now, Cost then) {
  return now == 0 || then >= now ? 0.0 : static_cast<double>(now - then) / static_cast<double>(now);
}

Placement proposed(const Affinity& affinity, const Machine& machine, const Placement& now,
                   const std::vector<Partitioner>& partitioners) {
  std::vector<Placement> starts = {packed(machine, now.size()), cyclic(machine, now.size()), now};
  for (const Partitioner& partitioner : partitioners) {
    starts.push_back(split_up(affinity, machine, partitioner));
  }
  if (now.size() <= kFewRanks) {
    for (int i = 1; i <= kMixed; ++i) starts.push_back(mixed(now, static_cast<std::uint64_t>(i)));
  }
  Placement best = now;
  Cost least = outcome_of(affinity, machine, now).cost;
  for (Placement& start : starts) {
    Placement placement = improved(affinity, machine, std::move(start), kMostSteps / starts.size());
    const Cost cost = outcome_of(affinity, machine, placement).cost;
    if (cost < least) {
      least = cost;
      best = std::move(placement);
    }
  }
  return best;
}

}  // namespace uctrace::placement
