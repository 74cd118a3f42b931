// The tables of `uctrace report --by connections`.
#pragma once

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/connections.hpp"

namespace uctrace {

Table connection_table(const Run& run, const Connections& connections);
// The endpoints with the longest waits of messages.
Table slow_connection_table(const Run& run, const Connections& connections);

}  // namespace uctrace
