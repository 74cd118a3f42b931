// Messages with another time over the network. Private to the simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/replay/replay.hpp"
#include "log-merger/simulate/hypotheses.hpp"
#include "log-merger/simulate/recorded_calls.hpp"

namespace uctrace {

struct MessageCount {
  std::uint64_t messages = 0, bytes = 0;
};

struct ChangedNetwork {
  // By row of /messages; ns = -1: as recorded. Empty: all as recorded.
  std::vector<replay::Times::Way> ways;
  // By NetworkChange: messages with the new time, and those over the transport without it, because
  // no call is known to have waited for them alone: messages of collective, one-sided and
  // partitioned operations, and unmatched ones.
  std::vector<MessageCount> changed, kept;
};

// A message belongs to the transport that carried most of its data; it takes
//
//   latency + bytes / bandwidth
//
// from its sender's begin or, if it needs both (rendezvous, synchronous sends), the later of both
// sides. Throws Error for a transport that carried no message of the run.
ChangedNetwork changed_network(const RowSource& source, const RecordedCalls& recorded,
                               const std::vector<NetworkChange>& changes);

}  // namespace uctrace
