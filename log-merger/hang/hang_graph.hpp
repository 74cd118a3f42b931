// The waits of a job's threads as a graph (wait_graph.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/hang/needs.hpp"
#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/wait_graph.hpp"

namespace uctrace::merge {

// How to treat a thread whose wait may not block it.
enum class IfUnsure : std::uint8_t { acts, waits };

// The first nodes are the processes, in their order, and stand for themselves; no other node does.
// `waiting` has an entry for each of `sitters.all`.
WaitGraph make_hang_graph(const Job& job, const Sitters& sitters,
                          const std::vector<Waiting>& waiting, IfUnsure if_unsure);

// The same as if the processes that are gone still existed and acted.
WaitGraph as_if_none_were_gone(WaitGraph graph);

}  // namespace uctrace::merge
