// Replaces scotch.cpp in builds without SCOTCH.
#include "log-merger/placement/scotch.hpp"

namespace uctrace {

std::optional<placement::Partitioner> scotch_partitioner() { return std::nullopt; }

}  // namespace uctrace
