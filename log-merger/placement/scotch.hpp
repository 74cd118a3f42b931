// SCOTCH, which shares graphs among parts of given room.
#pragma once

#include <optional>

#include "placement/partition.hpp"

namespace uctrace {

// nullopt: uctrace was built without it.
std::optional<placement::Partitioner> scotch_partitioner();

}  // namespace uctrace
