// SCOTCH, which partitions graphs into parts of given sizes.
#pragma once

#include <optional>

#include "placement/partition.hpp"

namespace uctrace {

// nullopt: uctrace was built without it.
std::optional<placement::Partitioner> scotch_partitioner();

}  // namespace uctrace
