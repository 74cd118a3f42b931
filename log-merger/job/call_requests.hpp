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

// What a call says about partitions of its request. Of MPI_Parrived `first` alone counts.
struct CallPartitions {
  std::int64_t first = 0, last = -1;  // a range, of those that name one
  std::vector<std::uint32_t> list;    // of MPI_Pready_list; of an init how many there are
};

// What a call that asked was told.
enum class Answer : std::uint8_t { unknown, no, yes };

// Part of the time of a call.
struct TimeShare {
  CallIndex call;
  InstanceIndex instance;
  std::uint32_t requests = 0;
  std::int64_t ns = 0;
};

}  // namespace uctrace::merge
