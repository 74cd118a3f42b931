// The matrix of GPUs and network cards as a table of `uctrace report`.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

Table gpu_nic_table(const Run& run, const std::vector<GpuNic>& rows);

// The columns for a person: a GPU by its bus.
Table gpu_nic_text(const Run& run, const std::vector<GpuNic>& rows);

}  // namespace uctrace
