// What a caller of the merger chooses.
#pragma once

#include <cstddef>
#include <string>

#include "log-merger/parallel/progress.hpp"
#include "log-merger/spill/merge_memory.hpp"

namespace uctrace {

struct MergeOptions {
  std::string job;          // job key, or its beginning; empty = the newest in the folder
  std::size_t threads = 0;  // at most; 0 = as many as CPUs that may be used
  Progress* progress = nullptr;
  spill::MemoryChoice memory = {};
};

}  // namespace uctrace
