// A placement made better step by step: a rank changes places with another one, or goes to a slot
// that is free, as long as that lowers the cost.
#pragma once

#include <cstdint>

#include "placement/machine.hpp"

namespace uctrace::placement {

// How many ties may be looked at, so that a dense matrix of many ranks ends: a second or so.
inline constexpr std::uint64_t kMostSteps = 200'000'000;

// Never worse than `placement`. The same for the same input.
Placement improved(const Affinity& affinity, const Machine& machine, Placement placement,
                   std::uint64_t most_steps = kMostSteps);

}  // namespace uctrace::placement
