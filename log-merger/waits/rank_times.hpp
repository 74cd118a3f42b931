// What the processes spent their time with. Private to the waits.
#pragma once

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"

namespace uctrace::merge {

// Fills Run::rank_times, and adds the identity that the time in MPI is waiting + moving + unknown +
// other. Run::waits are there, by call.
void find_rank_times(Job& job, RolesOfCalls& roles);

}  // namespace uctrace::merge
