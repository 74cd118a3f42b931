// What the threads of a job wait for, as a graph (wait_graph.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/hang/needs.hpp"
#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/wait_graph.hpp"

namespace uctrace::merge {

// What a thread does that waits for something of which it is not sure that it holds it up.
enum class IfUnsure : std::uint8_t { acts, waits };

// The first nodes are the processes, in their order, and stand for themselves; no other node does.
// `waiting` is of each of `sitters.all`.
WaitGraph make_hang_graph(const Job& job, const Sitters& sitters,
                          const std::vector<Waiting>& waiting, IfUnsure if_unsure);

// The same if those that are gone were there and acted.
WaitGraph as_if_none_were_gone(WaitGraph graph);

}  // namespace uctrace::merge
