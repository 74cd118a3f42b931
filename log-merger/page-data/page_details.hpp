// The single operations in the page: MPI calls, UCP operations, UCT transfers and messages with
// their paths, each with all that is known of it. As many as a limit allows, from the start of the
// span on and without a gap, so that whoever looks at an instant sees all of it or is told.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/page-data/page_cells.hpp"

namespace uctrace {

struct Details {
  std::uint64_t events = 0, embedded = 0;
  std::int64_t to_ns = 0;  // everything that begins before is embedded
  std::vector<PackedTable> tables;
};

// Tables: mpi_calls, ucp_operations, transfers, messages, hops; docs/page-data.md has the columns.
Details make_details(const Run& run, const PageCells& cells, std::int64_t from_ns,
                     std::int64_t to_ns, std::uint64_t limit);

}  // namespace uctrace
