// The requests of a call, and their part of its time (log-merger/mpi/requests.hpp finds it).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// The requests passed to a call that takes several.
struct CallRequests {
  std::vector<std::uint64_t> handles;
  std::vector<std::uint32_t> ended;  // positions among them
  bool ended_known = false;          // else all ended, in a call that waits for all
};

// The partitions that a call names. For MPI_Parrived only `first` counts.
struct CallPartitions {
  std::int64_t first = 0, last = -1;  // for calls with a range
  std::vector<std::uint32_t> list;    // of MPI_Pready_list; for an init call, the number of
                                      // partitions
};

// The answer to a call that tests.
enum class Answer : std::uint8_t { unknown, no, yes };

// Part of the time of a call.
struct TimeShare {
  CallIndex call;
  InstanceIndex instance;
  std::uint32_t requests = 0;
  std::int64_t ns = 0;
};

}  // namespace uctrace::merge
