// Requests of partitioned messages, and the pairs of senders' and receivers' requests. Private to
// the partitions.
//
// MPI matches them once, when both are made: those with the same sender, receiver, communicator and
// tag in the order of initialisation (MPI 4.0, section 4.2), whatever the order of their starts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Places in Run::partition_requests by the calls that made them.
using RequestOfMaker = std::unordered_map<CallIndex, std::int32_t>;

// Fills Run::partition_requests, except the number of starts.
RequestOfMaker find_partition_requests(Job& job);

// For the calls that made some requests of one side, by start time: whether that may differ from
// the order of initialisation, because calls of several threads overlap.
struct InitSpan {
  std::uint64_t start_tick = 0, end_tick = 0;
};
std::vector<bool> unclear_order(const std::vector<InitSpan>& inits);

}  // namespace uctrace::merge
