// What the ranks of a world have to do with each other, out of a run: the matrix that a placement
// is made for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "placement/affinity.hpp"

namespace uctrace {

// bytes: payload of messages, those included that collective calls sent below; waits: nanoseconds
// that one waited for the other.
enum class PlacementBy : std::uint8_t { bytes, messages, waits };
const char* name_of(PlacementBy);

struct RankMatrix {
  std::vector<std::string> host;  // of each rank
  placement::Affinity affinity{0, {}};
  std::uint64_t left_out = 0;  // weight with an end that is no rank of this world
};

// Of the first world of the run. Throws Error where it has none, or a rank of it left no log.
RankMatrix rank_matrix(const RowSource& source, PlacementBy by);

}  // namespace uctrace
