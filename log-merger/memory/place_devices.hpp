// Where the GPUs and network cards of a job are in their nodes, by the topologies beside its logs.
// Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Makes Run::nics, and in Run::gpu_nic a row for each pair of a GPU and a card of a host, with
// their distance; sets the NUMA nodes of both, and Findings::topologies. After build_rows().
void place_devices(Job& job);

}  // namespace uctrace::merge
