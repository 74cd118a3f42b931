// The tables of sums of a run: rows that are alike, counted once, from which reports are answered
// without reading every row. docs/store-schema.md says what makes rows alike.
#pragma once

#include "log-merger/model/model.hpp"

namespace uctrace {

// Fills the tables of sums of a run that has all its rows. Where messages or calls hardly have
// their like, so that sums would be little shorter than the rows, there are none: reports read the
// rows.
void lay_out_sums(Run& run);

}  // namespace uctrace
