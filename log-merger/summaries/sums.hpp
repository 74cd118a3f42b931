// The tables of sums of a run: sums of similar rows, from which reports are answered without
// reading every row. docs/store-schema.md defines similar rows.
#pragma once

#include "log-merger/model/model.hpp"

namespace uctrace {

// Fills the tables of sums of a run that has all its rows. If messages are so different that sums
// would save little, there are no sums of messages and related tables; the same for calls. Reports
// then read the rows.
void lay_out_sums(Run& run);

}  // namespace uctrace
