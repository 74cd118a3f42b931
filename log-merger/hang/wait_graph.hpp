// Waits and their consequences: the AND-OR model of deadlocks (Knapp, "Deadlock detection in
// distributed databases", ACM Computing Surveys 19(4), 1987: AND-OR requests). A node that waits
// needs all of its needs; a need is met once one of its nodes acts.
//
// Nothing here knows of MPI.
#pragma once

#include <cstdint>
#include <vector>

namespace uctrace::merge {

using WaitNode = std::uint32_t;  // place in WaitGraph::nodes

// One of these nodes must act. If there are none, the need is never met.
struct Need {
  std::vector<WaitNode> any_of;
};

struct Waiter {
  enum class State : std::uint8_t {
    acts,   // may go on by itself, as far as known
    waits,  // until all of its needs are met; without needs it acts
    gone,   // will never act
  };
  // What a node stands for. Cycles and the ends of chains consist of nodes that stand for
  // themselves, and pass through the others.
  enum class Kind : std::uint8_t {
    itself,
    part,   // of the one node that needs it: one of its threads, one of its alternatives
    group,  // needed by several: all of its nodes except the one that needs it
  };
  State state = State::acts;
  std::vector<Need> needs;
  Kind kind = Kind::itself;
};

struct WaitGraph {
  std::vector<Waiter> nodes;
};

struct Deadlock {
  // By node: it waits, and will wait for ever whatever the active nodes do. The largest set of
  // waiting nodes in which each has a need that only nodes of the set, or gone ones, could meet.
  std::vector<bool> stuck;
  // Shortest cycles of stuck nodes that stand for themselves. Each node has a need that the next
  // node could meet, directly or through parts and groups, and that no active node could. There is
  // one cycle for each strongly connected component that leads to no other one. Sorted by first
  // node, which is the smallest of its cycle.
  std::vector<std::vector<WaitNode>> cycles;
};

Deadlock find_deadlock(const WaitGraph& graph);

// Active or gone nodes that others finally wait for, directly or indirectly. All of them stand for
// themselves.
struct ChainEnd {
  WaitNode node = 0;
  std::vector<WaitNode> waiting;  // directly or through others, ascending
};

// At most `most` of them, those with the most waiting nodes first.
std::vector<ChainEnd> chain_ends(const WaitGraph& graph, std::size_t most);

}  // namespace uctrace::merge
