// The traffic between the ranks of a world: the matrix for which a placement is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event-log/reader/counter_file.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "placement/affinity.hpp"

namespace uctrace {

// bytes: payload of messages, including those of collective calls; waits: nanoseconds that one
// waited for the other.
enum class PlacementBy : std::uint8_t { bytes, messages, waits };
const char* name_of(PlacementBy);

struct RankMatrix {
  std::vector<std::string> host;  // of each rank
  placement::Affinity affinity{0, {}};
  std::uint64_t left_out = 0;  // weight with an end outside this world's ranks
  bool is_of_counters = false;
  std::size_t ranks_without_counters = 0;  // their traffic is missing
};

// For the first world of the run. For a run without messages, `counted` has the counters of its
// processes (may be empty). Throws Error if there is no world, a rank of it left no log, or nothing
// tells its traffic.
RankMatrix rank_matrix(const RowSource& source, PlacementBy by,
                       const std::vector<log::CounterSnapshot>& counted);

}  // namespace uctrace
