// Partitioned communication: the stage of the merge that makes Run::partition_*. It needs the calls
// that made and started requests (mpi/), and the communicators; docs/partitions.md has the rules.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

void find_partitions(Job& job);

}  // namespace uctrace::merge
