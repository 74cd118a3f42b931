// The duration of the run over an ideal network that moves everything instantly. Private to the
// waits.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"

namespace uctrace::merge {

// For each process, the time from the end of its MPI_Init to the start of its MPI_Finalize if MPI
// calls only waited for events that must begin elsewhere: the send of a message, the last process
// of a collective operation. The time between calls stays as recorded. Sends wait for nobody. -1 =
// the process has no calls. This is the ideal run of POP's transfer and serialisation efficiencies
// (https://pop-coe.eu/node/69), of Dimemas with no latency and no limit of bandwidth.
// Run::call_dependencies are there.
//
// The calls of several threads of a process are treated as those of one: time that ends with the
// entry of a call is between calls, time that ends with its end is in it.
std::vector<std::int64_t> ideal_times(const Job& job, RolesOfCalls& roles);

}  // namespace uctrace::merge
