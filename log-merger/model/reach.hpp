// Where the two ends of a message or an endpoint are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "log-merger/model/model.hpp"

namespace uctrace {

// Of two processes of the run; -1 = not known which.
inline Reach reach_of(const Run& run, std::int32_t src, std::int32_t dst) {
  if (src < 0 || dst < 0) return Reach::unknown;
  if (src == dst) return Reach::process;
  const auto host = [&](std::int32_t process) {
    return run.processes[static_cast<std::size_t>(process)].host;
  };
  return host(src) == host(dst) ? Reach::host : Reach::network;
}

}  // namespace uctrace
