// Operations by transport: the counters of a job (`record --counters --trace`) compared with its
// records. Private to log-merger/.
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
  std::uint64_t differing = 0;  // processes, transports and operations with different counts or
                                // bytes
  bool unclear = false;         // some counts are not known

  // Adds a process.
  void add(const TransportSums& by_counters, const TransportSums& by_records);
};

// From the counter files beside the job's logs.
CountedTransports compare_counted_transports(const Job& job);

}  // namespace uctrace::merge
