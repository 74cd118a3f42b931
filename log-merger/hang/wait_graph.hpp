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
  // What a node stands for. Cycles and the ends of chains are told of those that stand for
  // themselves, and pass through the others.
  enum class Kind : std::uint8_t {
    itself,
    part,   // of the one node that needs it: one of its threads, one of its alternatives
    group,  // that several need: all of its nodes but the one who needs it
  };
  State state = State::acts;
  std::vector<Need> needs;
  Kind kind = Kind::itself;
};

struct WaitGraph {
  std::vector<Waiter> nodes;
};

struct Deadlock {
  // By node: it waits, and whatever the others do that may act, it will wait for ever. The largest
  // set of waiting nodes of which each has a need that only nodes of the set or gone ones could
  // meet.
  std::vector<bool> stuck;
  // Each a shortest cycle of stuck nodes that stand for themselves, every one of which has a need
  // that the next one could meet, directly or through parts and groups, and none that acts: one for
  // each strongly connected component of those that leads to no other. By their first nodes, which
  // are the least ones.
  std::vector<std::vector<WaitNode>> cycles;
};

Deadlock find_deadlock(const WaitGraph& graph);

// Nodes that act or are gone and which others wait for in the end, through whatever they wait for.
// All of them stand for themselves.
struct ChainEnd {
  WaitNode node = 0;
  std::vector<WaitNode> waiting;  // directly or through others, ascending
};

// At most `most` of them, those that most nodes wait for first.
std::vector<ChainEnd> chain_ends(const WaitGraph& graph, std::size_t most);

}  // namespace uctrace::merge
