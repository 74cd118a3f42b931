// What the threads of a job wait for, as a graph (wait_graph.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/wait_graph.hpp"
#include "log-merger/hang/waits.hpp"

namespace uctrace::merge {

// A node for each process, for each of the threads of a process that has several, and for each
// group that several wait for.
struct HangGraph {
  WaitGraph graph;
  // By node: the process that it is of, -1 = of none. Those of processes come first, in their
  // order.
  std::vector<std::int32_t> owners;
};

// What a thread does that waits for something of which it is not sure that it holds it up.
enum class IfUnsure : std::uint8_t { acts, waits };

// `waiting` is of each of `sitters.all`.
HangGraph make_hang_graph(const Job& job, const Sitters& sitters,
                          const std::vector<Waiting>& waiting, IfUnsure if_unsure);

}  // namespace uctrace::merge
