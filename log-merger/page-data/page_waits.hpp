// Who waited for whom, for the page: sums by pair of processes, when each process waited, and the
// waits of the calls that the page lists one by one (docs/page-data.md#waits).
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// The tables `wait_sums`, for waits that begin in `window`, `wait_activity`, in slabs of `axis`,
// and `waits`, for the MPI calls `chosen`, which name their rows. Reads each wait once.
std::vector<PackedTable> make_waits(const RowSource& source, const TimeWindow& window,
                                    const TimeAxis& axis, const DetailChoice::Chosen& chosen);

// Names for the numbers in columns `kind` and `unknown` of these tables.
nlohmann::ordered_json wait_names_json();

}  // namespace uctrace
