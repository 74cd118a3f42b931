// The operations that a page, or a tile, lists one by one: MPI calls, UCP operations, UCT transfers
// and messages with their paths, each with all that is known about it.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/detail_rows.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

// Tables: mpi_calls, ucp_operations, transfers, messages, hops; docs/page-data.md has the columns.
std::vector<PackedTable> make_details(const Run& run, const TrafficCells& cells,
                                      const DetailRows& rows);

}  // namespace uctrace
