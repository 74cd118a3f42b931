// Options of the merger.
#pragma once

#include <cstddef>
#include <string>

#include "log-merger/parallel/progress.hpp"
#include "log-merger/spill/merge_memory.hpp"

namespace uctrace {

struct MergeOptions {
  std::string job;          // job key, or its beginning; empty = the newest in the folder
  std::size_t threads = 0;  // at most; 0 = one per usable CPU
  Progress* progress = nullptr;
  spill::MemoryChoice memory = {};
};

}  // namespace uctrace
