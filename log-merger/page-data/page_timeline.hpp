// What the page knows of time: the traffic of each cell in slabs of equal length, and how busy each
// process was in each of them, in all three layers. The number of slabs falls until the rows fit
// their budget, so the size does not grow with the run.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/page-data/page_cells.hpp"

namespace uctrace {

// Slab i is [from_ns + i * slab_ns, from_ns + (i + 1) * slab_ns).
struct TimeAxis {
  std::int64_t from_ns = 0, slab_ns = 1;
  std::uint32_t slabs = 1;

  std::uint32_t slab_of(std::int64_t time_ns) const {
    return static_cast<std::uint32_t>((time_ns - from_ns) / slab_ns);
  }
  std::int64_t end_ns() const { return from_ns + slab_ns * slabs; }
};

inline constexpr std::size_t kSlabRows = 300'000;

struct Slabs {
  TimeAxis axis;
  std::vector<std::pair<TextId, TextId>> call_kinds;  // function and communicator
  std::vector<PackedTable> tables;
};

// Tables, each sorted by what it names first:
//   slab_cells       slab, cell, messages, bytes: of the messages that start in the slab
//   slab_transfers   slab, total, count, bytes, wire_bytes: of their whole paths
//   mpi_activity     process, key, slab, length, busy_ns, starts; key: of call_kinds
//   ucp_activity     the same of UCP operations; key: cell of the message, -1 = serves none
//   uct_activity     the same of transfers; key: transfer total, -1 = counted nowhere
// An activity row says that in each of `length` slabs operations were in progress for together
// busy_ns (more than the slab is long if several were at once), and how many began in the slab.
Slabs make_slabs(const Run& run, const PageCells& cells, std::int64_t from_ns, std::int64_t to_ns,
                 std::size_t row_budget = kSlabRows);

// Until when an operation is in progress: the end of the span if its end was not recorded.
std::int64_t end_or(std::int64_t end_ns, std::int64_t to_ns);
std::int64_t end_of(const Transfer& transfer);

}  // namespace uctrace
