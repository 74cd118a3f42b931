// Operations by transport as the counters of a job have them (`record --counters --trace`), beside
// those that its records tell. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "event-log/reader/counter_file.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// By "transport/device" and UCT operation.
using TransportSums = std::map<std::pair<std::string, log::UctOp>, log::CounterTotal>;

TransportSums transport_sums(const log::CounterSnapshot& process);

struct CountedTransports {
  bool any = false;                         // there are counters beside the logs
  std::uint64_t counted = 0, recorded = 0;  // operations
  std::uint64_t differing = 0;  // of a process, transport and operation: other operations or bytes
  bool unclear = false;         // not all that was counted can be told

  // Adds a process.
  void add(const TransportSums& by_counters, const TransportSums& by_records);
};

// Of the counter files beside the logs that the job was read from.
CountedTransports compare_counted_transports(const Job& job);

}  // namespace uctrace::merge
