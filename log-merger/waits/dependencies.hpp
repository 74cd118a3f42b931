// What had to happen at another process before each call could return: Run::call_dependencies.
// Private to the waits.
#pragma once

#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/collectives.hpp"

namespace uctrace::merge {

// A call that completed a non-blocking collective operation, and the call that began it.
using CompletedOperation = std::pair<CallIndex, EntryOfCall>;

// Of the calls of one process.
struct DependenciesOfProcess {
  std::vector<CallDependency> messages;
  std::vector<CompletedOperation> completed;
};

// Fills Run::call_dependencies; the rows of messages and epochs are given. `collectives` must know
// the completing calls.
void find_dependencies(Job& job, const Collectives& collectives,
                       std::vector<CallDependency> of_calls);

}  // namespace uctrace::merge
