// The uses of partitioned requests, and the events of their partitions. Private to the partitions.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/request_table.hpp"
#include "log-merger/partitions/partition_matching.hpp"

namespace uctrace::merge {

// Partitions [first, last] that a call made ready, or one that a call saw arrived.
struct PartitionMark {
  std::int64_t first = 0, last = 0;
  std::int64_t call = -1;  // into mpi_calls
  std::int64_t ns = -1;    // it was entered, or left
};

struct PartitionUse {
  PartitionOperation row;
  std::vector<PartitionMark> ready, arrived;  // by the start of their calls
};

// Of one process.
struct UsesOfProcess {
  std::vector<PartitionUse> uses;      // by start
  std::vector<PartitionEvent> events;  // their operations are places in `uses`
  std::uint64_t left_out = 0;          // further events
};

// At most `most_events`, because a damaged log may claim any number of partitions.
UsesOfProcess find_partition_uses(const Job& job, ProcessIndex process,
                                  const RequestOfMaker& requests, std::size_t most_events);

}  // namespace uctrace::merge
