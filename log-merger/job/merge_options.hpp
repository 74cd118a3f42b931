// What a caller of the merger chooses.
#pragma once

#include <string>

namespace uctrace {

struct MergeOptions {
  std::string job;  // job key, or its beginning; empty = the newest in the folder
};

}  // namespace uctrace
