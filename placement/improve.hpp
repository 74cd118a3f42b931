// Improves a placement step by step: a rank changes places with another one, or moves to a free
// slot, as long as that lowers the cost.
#pragma once

#include <cstdint>

#include "placement/machine.hpp"

namespace uctrace::placement {

// How many ties are looked at, at most: about a second, so that a dense matrix of many ranks ends.
inline constexpr std::uint64_t kMostSteps = 200'000'000;

// Never worse than `placement`. Deterministic.
Placement improved(const Affinity& affinity, const Machine& machine, Placement placement,
                   std::uint64_t most_steps = kMostSteps);

}  // namespace uctrace::placement
