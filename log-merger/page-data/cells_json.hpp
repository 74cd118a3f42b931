// Cells, their classes and the steps of the classes, as the page reads them (docs/page-data.md).
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

nlohmann::ordered_json steps_json(const Run& run, const CellTables& tables);
nlohmann::ordered_json classes_json(const Run& run, const CellTables& tables);

// Tables: cells, and cell_transfers with the steps of each cell's class, one cell after the other.
std::vector<PackedTable> pack_cells(const CellTables& tables);

}  // namespace uctrace
