// The identities of waits, over the rows of a run: compares each rank's times, and the delays, with
// its calls and waits.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// Whether the cost of a wait is assigned to a process: its length and cause are known. Completion
// is not waiting, and MPI_Finalize is in no total.
bool has_cost(const Wait& wait);

// `waits`: of each rank, time in MPI calls = waiting + moving + unknown + the rest, where waiting
// is the sum of its waits. `delays`: time waited = time assigned to work.
std::vector<Identity> wait_identities(const Run& run);

}  // namespace uctrace::merge
