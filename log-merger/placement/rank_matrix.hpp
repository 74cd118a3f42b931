// What the ranks of a world have to do with each other, out of a run: the matrix that a placement
// is made for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event-log/reader/counter_file.hpp"
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
  bool is_of_counters = false;
  std::size_t ranks_without_counters = 0;  // what they sent is not in it
};

// Of the first world of the run. A run without messages is one of counters alone: `counted` is what
// its processes counted then (may be empty). Throws Error where there is no world, a rank of it
// left no log, or nothing says what it has to do with the others.
RankMatrix rank_matrix(const RowSource& source, PlacementBy by,
                       const std::vector<log::CounterSnapshot>& counted);

}  // namespace uctrace
