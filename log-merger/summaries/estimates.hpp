// How long UCX expects messages to take (docs/report.md#protocols-and-sizes).
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/model/model.hpp"

namespace uctrace {

// Over all UCP endpoints whose two ends are so far apart.
struct Estimate {
  std::uint64_t least_ns = 0, most_ns = 0;
};

// For a message of so many bytes. nullopt: of no such endpoint is it known.
std::optional<Estimate> estimate_of(const Run& run, Reach reach, double bytes);

}  // namespace uctrace
