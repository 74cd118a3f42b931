// Cells, their classes and the steps of these as the page reads them (docs/page-data.md).
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/model/model.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

nlohmann::ordered_json steps_json(const Run& run, const CellTables& tables);
nlohmann::ordered_json classes_json(const Run& run, const CellTables& tables);
nlohmann::ordered_json cells_json(const CellTables& tables);

}  // namespace uctrace
