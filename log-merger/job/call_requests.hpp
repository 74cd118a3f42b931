// The requests of a call, and what of its time is theirs (log-merger/mpi/requests.hpp finds it).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// The requests that a call was given, where there may be several.
struct CallRequests {
  std::vector<std::uint64_t> handles;
  std::vector<std::uint32_t> ended;  // positions among them
  bool ended_known = false;          // else all, of a call that waits for all
};

// Part of the time of a call.
struct TimeShare {
  CallIndex call;
  InstanceIndex instance;
  std::uint32_t requests = 0;
  std::int64_t ns = 0;
};

}  // namespace uctrace::merge
