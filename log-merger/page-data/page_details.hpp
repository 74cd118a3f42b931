// The single operations in the page: MPI calls, UCP operations, UCT transfers and messages with
// their paths, each with all that is known of it.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

// Tables: mpi_calls, ucp_operations, transfers, messages, hops; docs/page-data.md has the columns.
std::vector<PackedTable> make_details(const RowSource& source, const TrafficCells& cells,
                                      const DetailChoice::Chosen& chosen);

}  // namespace uctrace
