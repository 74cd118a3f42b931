// The placement that costs least of those that are tried.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/machine.hpp"
#include "placement/partition.hpp"

namespace uctrace::placement {

// Below it a placement is not worth the trouble of changing it.
inline constexpr double kLeastGain = 0.05;

// What is saved of `now` by `then`, 0 to 1.
double gain_of(Cost now, Cost then);

// Tries the present placement, packed, cyclic, and one of each partitioner, makes each better step
// by step, and for few ranks also some that are mixed up, always the same ones. Never worse than
// `now`; `now` itself where nothing costs less.
Placement proposed(const Affinity& affinity, const Machine& machine, const Placement& now,
                   const std::vector<Partitioner>& partitioners);

}  // namespace uctrace::placement
