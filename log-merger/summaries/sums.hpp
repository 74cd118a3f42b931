// The tables of sums of a run: rows that are alike, counted once, from which reports are answered
// without reading every row. docs/store-schema.md says what makes rows alike.
#pragma once

#include "log-merger/model/model.hpp"

namespace uctrace {

// Fills the tables of sums of a run that has all its rows. Where messages hardly have their like,
// so that sums would be little shorter than the rows, there are none of them, nor of what is beside
// them; where calls have none, none of calls. Reports read the rows then.
void lay_out_sums(Run& run);

}  // namespace uctrace
