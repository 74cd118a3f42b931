// Who waits for whom, and what follows from it: the AND-OR model of deadlocks (Knapp, "Deadlock
// detection in distributed databases", ACM Computing Surveys 19(4), 1987: AND-OR requests). A node
// that waits needs all of its needs; a need is met once one of its nodes acts.
//
// Nothing here knows of MPI.
#pragma once

#include <cstdint>
#include <vector>

namespace uctrace::merge {

using WaitNode = std::uint32_t;  // place in WaitGraph::nodes

// One of these nodes has to act. None of them: it is never met.
struct Need {
  std::vector<WaitNode> any_of;
};

struct Waiter {
  enum class State : std::uint8_t {
    acts,   // may go on by itself, as far as is known
    waits,  // until all of its needs are met; without one it acts
    gone,   // will never act
  };
  State state = State::acts;
  std::vector<Need> needs;
};

struct WaitGraph {
  std::vector<Waiter> nodes;
};

struct Deadlock {
  // By node: it waits, and whatever the others do that may act, it will wait for ever. The largest
  // set of waiting nodes of which each has a need that only nodes of the set or gone ones could
  // meet.
  std::vector<bool> stuck;
  // Each a shortest cycle of stuck nodes, every one of which has a need that the next one could
  // meet, and none that acts: one for each strongly connected component of those that leads to no
  // other. By their first nodes, which are the least ones.
  std::vector<std::vector<WaitNode>> cycles;
};

Deadlock find_deadlock(const WaitGraph& graph);

// Nodes that act or are gone and which others wait for in the end, through whatever they wait for.
struct ChainEnd {
  WaitNode node = 0;
  std::vector<WaitNode> waiting;  // directly or through others, ascending
};

// At most `most` of them, those that most nodes wait for first.
std::vector<ChainEnd> chain_ends(const WaitGraph& graph, std::size_t most);

}  // namespace uctrace::merge
