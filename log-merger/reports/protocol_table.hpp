// Messages, payload and latencies by UCP protocol, and by protocol and size.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/latencies.hpp"

namespace uctrace {

Table protocol_table(const Run& run, const std::vector<LatencySum>& sums);
Table protocol_size_table(const Run& run, const std::vector<LatencySum>& sums);

}  // namespace uctrace
