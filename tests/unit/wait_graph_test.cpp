// Deadlocks of the AND-OR model, compared with their definitions by exhaustive search.
#include "log-merger/hang/wait_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace uctrace::merge {
namespace {

using State = Waiter::State;

WaitGraph random_graph(std::mt19937& random, std::size_t most_nodes) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  WaitGraph graph;
  graph.nodes.resize(1 + below(most_nodes));
  const std::size_t waiting = below(101);  // percent
  for (Waiter& node : graph.nodes) {
    node.state = below(100) < waiting ? State::waits : below(3) == 0 ? State::gone : State::acts;
    if (node.state != State::waits) continue;
    node.needs.resize(below(4));
    for (Need& need : node.needs) {
      for (std::size_t i = below(4); i > 0; --i) {
        need.any_of.push_back(static_cast<WaitNode>(below(graph.nodes.size())));
      }
    }
  }
  return graph;
}

bool waits(const WaitGraph& graph, std::size_t node) {
  return graph.nodes[node].state == State::waits && !graph.nodes[node].needs.empty();
}

// Every set of waiting nodes is tried: the stuck ones are all those of which each has a need that
// only nodes of the set, or gone ones, could meet.
std::vector<bool> naive_stuck(const WaitGraph& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<bool> stuck(count);
  for (std::uint32_t set = 0; set < (1u << count); ++set) {
    const auto in = [&](std::size_t node) { return (set >> node & 1) != 0; };
    const auto hopeless = [&](const Need& need) {
      return std::all_of(need.any_of.begin(), need.any_of.end(), [&](WaitNode other) {
        return in(other) || graph.nodes[other].state == State::gone;
      });
    };
    bool closed = true;
    for (std::size_t node = 0; node < count && closed; ++node) {
      if (!in(node)) continue;
      const auto& needs = graph.nodes[node].needs;
      closed = waits(graph, node) && std::any_of(needs.begin(), needs.end(), hopeless);
    }
    for (std::size_t node = 0; closed && node < count; ++node) {
      if (in(node)) stuck[node] = true;
    }
  }
  return stuck;
}

using Matrix = std::vector<std::vector<bool>>;

Matrix edges_of(const WaitGraph& graph, const std::vector<bool>& stuck) {
  const std::size_t count = graph.nodes.size();
  Matrix edges(count, std::vector<bool>(count));
  for (std::size_t node = 0; node < count; ++node) {
    if (!stuck[node]) continue;
    for (const Need& need : graph.nodes[node].needs) {
      const bool unmet = std::all_of(need.any_of.begin(), need.any_of.end(), [&](WaitNode other) {
        return stuck[other] || graph.nodes[other].state == State::gone;
      });
      for (const WaitNode other : need.any_of) {
        if (unmet && stuck[other]) edges[node][other] = true;
      }
    }
  }
  return edges;
}

// Least number of edges from each node to each, at least one; 99: there is no way.
std::vector<std::vector<int>> distances(const Matrix& edges) {
  const std::size_t count = edges.size();
  std::vector<std::vector<int>> ways(count, std::vector<int>(count, 99));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (edges[a][b]) ways[a][b] = 1;
    }
  }
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        ways[a][b] = std::min(ways[a][b], ways[a][via] + ways[via][b]);
      }
    }
  }
  return ways;
}

TEST_CASE("stuck nodes and cycles are those of their definitions, in random graphs") {
  std::mt19937 random(20260);
  int with_cycle = 0, stuck_without_cycle = 0;
  for (int round = 0; round < 4000; ++round) {
    const WaitGraph graph = random_graph(random, 9);
    const Deadlock found = find_deadlock(graph);
    const std::vector<bool> stuck = naive_stuck(graph);
    REQUIRE(found.stuck == stuck);
    const Matrix edges = edges_of(graph, stuck);
    const auto ways = distances(edges);
    // The last components: nodes on a cycle which come back from wherever they lead to.
    std::vector<std::vector<WaitNode>> last;
    for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
      if (ways[node][node] >= 99) continue;
      std::vector<WaitNode> component;
      bool comes_back = true;
      for (WaitNode other = 0; other < graph.nodes.size(); ++other) {
        if (ways[node][other] >= 99) continue;
        component.push_back(other);
        comes_back = comes_back && ways[other][node] < 99;
      }
      if (comes_back && component.front() == node) last.push_back(component);
    }
    REQUIRE(found.cycles.size() == last.size());
    for (const std::vector<WaitNode>& cycle : found.cycles) {
      REQUIRE(!cycle.empty());
      CHECK(*std::min_element(cycle.begin(), cycle.end()) == cycle.front());
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        CHECK(edges[cycle[i]][cycle[(i + 1) % cycle.size()]]);
      }
      const auto component = std::find_if(last.begin(), last.end(), [&](const auto& nodes) {
        return std::find(nodes.begin(), nodes.end(), cycle.front()) != nodes.end();
      });
      REQUIRE(component != last.end());
      int shortest = 99;
      for (const WaitNode node : *component) shortest = std::min(shortest, ways[node][node]);
      CHECK(static_cast<int>(cycle.size()) == shortest);
    }
    with_cycle += !found.cycles.empty();
    stuck_without_cycle +=
        found.cycles.empty() && std::find(stuck.begin(), stuck.end(), true) != stuck.end();
  }
  CHECK(with_cycle > 200);  // else the graphs say little
  CHECK(stuck_without_cycle > 200);
}

TEST_CASE("the ends of chains are who does not wait and is waited for, with all that wait") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const WaitGraph graph = random_graph(random, 12);
    const std::size_t count = graph.nodes.size();
    Matrix edges(count, std::vector<bool>(count));
    for (std::size_t node = 0; node < count; ++node) {
      if (!waits(graph, node)) continue;
      for (const Need& need : graph.nodes[node].needs) {
        for (const WaitNode other : need.any_of) edges[node][other] = true;
      }
    }
    const auto ways = distances(edges);
    std::size_t expected = 0;
    const std::vector<ChainEnd> ends = chain_ends(graph, count);
    for (WaitNode end = 0; end < count; ++end) {
      std::vector<WaitNode> waiting;
      for (WaitNode node = 0; node < count; ++node) {
        if (ways[node][end] < 99) waiting.push_back(node);
      }
      if (waits(graph, end) || waiting.empty()) continue;
      ++expected;
      const auto named = std::find_if(ends.begin(), ends.end(),
                                      [&](const ChainEnd& one) { return one.node == end; });
      REQUIRE(named != ends.end());
      CHECK(named->waiting == waiting);
    }
    CHECK(ends.size() == expected);
    for (std::size_t i = 1; i < ends.size(); ++i) {
      CHECK(ends[i - 1].waiting.size() >= ends[i].waiting.size());
    }
    const std::vector<ChainEnd> one = chain_ends(graph, 1);
    REQUIRE(one.size() == std::min<std::size_t>(1, expected));
    if (!one.empty()) CHECK(one.front().waiting.size() == ends.front().waiting.size());
  }
}

// Nodes that stand for themselves, of which some need groups, and groups of these.
struct WithGroups {
  WaitGraph graph, without;  // the same with each group written out
};

WithGroups random_groups(std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  WithGroups made;
  made.without = random_graph(random, 7);
  made.graph = made.without;
  const std::size_t own = made.graph.nodes.size();
  for (std::size_t i = 1 + below(2); i > 0; --i) {
    const auto group = static_cast<WaitNode>(made.graph.nodes.size());
    Need members;
    for (WaitNode node = 0; node < own; ++node) {
      if (below(3) != 0) members.any_of.push_back(node);
    }
    made.graph.nodes.push_back({State::waits, {members}, Waiter::Kind::group});
    for (WaitNode node = 0; node < own; ++node) {
      if (made.graph.nodes[node].state != State::waits || below(2) == 0) continue;
      Need others = members;
      std::erase(others.any_of, node);
      made.without.nodes[node].needs.push_back(others);
      // Some are in it for a part of them, such as a thread.
      Need need{{group}};
      if (below(3) == 0) {
        need.any_of = {static_cast<WaitNode>(made.graph.nodes.size())};
        made.graph.nodes.push_back({State::waits, {{{group}}}, Waiter::Kind::part});
      }
      made.graph.nodes[node].needs.push_back(need);
    }
  }
  return made;
}

TEST_CASE("a group stands for all of its nodes but the one who needs it") {
  std::mt19937 random(99);
  int with_cycle = 0;
  for (int round = 0; round < 4000; ++round) {
    const WithGroups made = random_groups(random);
    const std::size_t own = made.without.nodes.size();
    const Deadlock found = find_deadlock(made.graph), expected = find_deadlock(made.without);
    REQUIRE(std::vector<bool>(found.stuck.begin(),
                              found.stuck.begin() + static_cast<std::ptrdiff_t>(own)) ==
            expected.stuck);
    const Matrix edges = edges_of(made.without, expected.stuck);
    REQUIRE(found.cycles.size() == expected.cycles.size());
    std::multiset<std::size_t> lengths, expected_lengths;
    for (std::size_t c = 0; c < found.cycles.size(); ++c) {
      const std::vector<WaitNode>& cycle = found.cycles[c];
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        REQUIRE(cycle[i] < own);
        CHECK(edges[cycle[i]][cycle[(i + 1) % cycle.size()]]);
      }
      lengths.insert(cycle.size());
      expected_lengths.insert(expected.cycles[c].size());
    }
    CHECK(lengths == expected_lengths);
    with_cycle += !found.cycles.empty();
    const auto ends = chain_ends(made.graph, own), expected_ends = chain_ends(made.without, own);
    for (const ChainEnd& end : expected_ends) {
      const auto named = std::find_if(ends.begin(), ends.end(),
                                      [&](const ChainEnd& one) { return one.node == end.node; });
      REQUIRE(named != ends.end());
      CHECK(named->waiting == end.waiting);
    }
  }
  CHECK(with_cycle > 200);
}

TEST_CASE("many who need any of one group, and many who could meet that") {
  constexpr WaitNode kWaiting = 50'000, kAll = 100'000;
  WaitGraph graph;
  graph.nodes.resize(kAll + 1);
  Need any;
  for (WaitNode node = 0; node < kAll; ++node) any.any_of.push_back(node);
  graph.nodes[kAll] = {State::waits, {any}, Waiter::Kind::group};
  for (WaitNode node = 0; node < kWaiting; ++node) graph.nodes[node] = {State::waits, {{{kAll}}}};
  const std::vector<ChainEnd> ends = chain_ends(graph, 16);
  REQUIRE(ends.size() == 16);
  CHECK(ends.front().node == kWaiting);
  CHECK(ends.back().waiting.size() == kWaiting);
  for (WaitNode node = kWaiting; node < kAll; ++node) graph.nodes[node] = {State::waits, {{{0}}}};
  const Deadlock found = find_deadlock(graph);
  REQUIRE(found.cycles.size() == 1);
  CHECK(found.cycles.front() == std::vector<WaitNode>{0, 1});
}

TEST_CASE("a ring of many thousands is one cycle, and takes no recursion") {
  constexpr WaitNode kNodes = 100'000;
  WaitGraph graph;
  graph.nodes.resize(kNodes);
  for (WaitNode node = 0; node < kNodes; ++node) {
    graph.nodes[node] = {State::waits, {{{(node + 1) % kNodes}}}};
  }
  const Deadlock found = find_deadlock(graph);
  REQUIRE(found.cycles.size() == 1);
  CHECK(found.cycles.front().size() == kNodes);
}

}  // namespace
}  // namespace uctrace::merge
