// Which call completed each non-blocking collective operation: Run::begun_collectives. Private to
// the waits.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/dependencies.hpp"

namespace uctrace::merge {

// For one process. `completed`: the operations that its calls may have completed; if several may
// have completed one, the first did.
std::vector<BegunCollective> begun_collectives(const Job& job, ProcessIndex process,
                                               RolesOfCalls& roles,
                                               const std::vector<CompletedOperation>& completed);

}  // namespace uctrace::merge
