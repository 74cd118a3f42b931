// Messages that take another time over the network. Private to the simulation.
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
  // By row of /messages; ns = -1: it takes what it took. Empty: all do.
  std::vector<replay::Times::Way> ways;
  // By NetworkChange: messages that take the new time; and those over the transport that do not, as
  // no call is known to have waited for them alone: of collective and one-sided operations,
  // partitioned ones, unmatched ones.
  std::vector<MessageCount> changed, kept;
};

// A message belongs to the transport that carried most of its data; it takes
//
//   latency + bytes / bandwidth
//
// from when its sender began it, and from when its receiver did where it needs both (rendezvous,
// synchronous sends). Throws Error for a transport that carried no message of the run.
ChangedNetwork changed_network(const RowSource& source, const RecordedCalls& recorded,
                               const std::vector<NetworkChange>& changes);

}  // namespace uctrace
