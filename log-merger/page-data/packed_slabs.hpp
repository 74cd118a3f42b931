// Activity over time, as the page reads it.
#pragma once

#include <vector>

#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/summaries/time_slabs.hpp"

namespace uctrace {

// Tables: slab_cells, slab_transfers, mpi_activity, ucp_activity, uct_activity; docs/page-data.md
// has the columns.
std::vector<PackedTable> pack_slabs(const SlabTables& slabs);

}  // namespace uctrace
