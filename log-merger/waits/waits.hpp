// Waits between processes: the stage of the merge that makes Run::waits and Run::rank_times. It
// needs the rows of the run. The formulas and their sources are in docs/waits.md.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

void find_waits(Job& job);

}  // namespace uctrace::merge
