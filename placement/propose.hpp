// The cheapest of the placements that are tried.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/machine.hpp"
#include "placement/partition.hpp"

namespace uctrace::placement {

// With less gain, a change of placement is not worth the trouble.
inline constexpr double kLeastGain = 0.05;

// The part of the cost `now` that `then` saves, 0 to 1.
double gain_of(Cost now, Cost then);

// Tries the present placement, packed, cyclic, and one of each partitioner, and for few ranks also
// some shuffled ones, always the same. Improves each step by step. Returns `now` itself if nothing
// costs less.
Placement proposed(const Affinity& affinity, const Machine& machine, const Placement& now,
                   const std::vector<Partitioner>& partitioners);

}  // namespace uctrace::placement
