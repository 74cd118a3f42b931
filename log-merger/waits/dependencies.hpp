// What each call that returned had to come first, at another process: Run::call_dependencies.
// Private to the waits.
#pragma once

#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/collectives.hpp"

namespace uctrace::merge {

// A call that completed a non-blocking collective operation, and what began it.
using CompletedOperation = std::pair<CallIndex, EntryOfCall>;

// Of the calls of one process.
struct DependenciesOfProcess {
  std::vector<CallDependency> messages;
  std::vector<CompletedOperation> completed;
};

// Fills Run::call_dependencies, of which the rows of messages and epochs are given. `collectives`
// know what completed them.
void find_dependencies(Job& job, const Collectives& collectives,
                       std::vector<CallDependency> of_calls);

}  // namespace uctrace::merge
