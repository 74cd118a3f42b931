// Requests of partitioned messages, and which one of a receiver belongs to which of a sender.
// Private to the partitions.
//
// MPI matches them once, when both are made: those of one sender, receiver, communicator and tag in
// the order of their initialisation (MPI 4.0, section 4.2), whatever the order of their starts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Places in Run::partition_requests by the calls that made them.
using RequestOfMaker = std::unordered_map<CallIndex, std::int32_t>;

// Fills Run::partition_requests, but for how often each was started.
RequestOfMaker find_partition_requests(Job& job);

// The calls that made some of the requests of one side, in the order of their starts, as far as
// that order is the order of initialisation. By their places: whether it is not, because calls of
// several threads overlap.
struct InitSpan {
  std::uint64_t start_tick = 0, end_tick = 0;
};
std::vector<bool> unclear_order(const std::vector<InitSpan>& inits);

}  // namespace uctrace::merge
