// How the processes spent their time. Private to the waits.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"

namespace uctrace::merge {

// Fills Run::rank_times, of which `ideal_ns` is by process (replay.hpp). Run::waits are there, by
// call.
void find_rank_times(Job& job, RolesOfCalls& roles, const std::vector<std::int64_t>& ideal_ns);

}  // namespace uctrace::merge
