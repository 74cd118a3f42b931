// The table of `uctrace report --by library`.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/library_sums.hpp"

namespace uctrace {

Table library_table(const Run& run, const std::vector<LibrarySum>& sums);

}  // namespace uctrace
