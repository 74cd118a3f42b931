// The identities of waits, over the rows of a run: what each rank's times and the delays say is
// held against its calls and its waits.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// Whether somebody is laid the cost of a wait on: its length is known, and for whom it was.
// Completion is no waiting, and MPI_Finalize is in no total.
bool has_cost(const Wait& wait);

// `waits`: of each rank, time in MPI calls = waiting + moving + unknown + the rest, of which
// waiting is what its waits say. `delays`: time waited = time laid on work.
std::vector<Identity> wait_identities(const Run& run);

}  // namespace uctrace::merge
