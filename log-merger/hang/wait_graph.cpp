#include "log-merger/hang/wait_graph.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace uctrace::merge {

namespace {

using State = Waiter::State;
using Kind = Waiter::Kind;
using Lists = std::vector<std::vector<WaitNode>>;
constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// From how many nodes of a component to search for the shortest cycle: all of them would take
// quadratic time.
constexpr std::size_t kMostStarts = 256;

bool waits(const Waiter& node) { return node.state == State::waits && !node.needs.empty(); }

// Which nodes may act: those that do, and then all whose needs these meet. Each need is visited
// once for each of its nodes that becomes active.
std::vector<bool> find_acting(const WaitGraph& graph) {
  const std::size_t count = graph.nodes.size();
  struct NeedOf {
    WaitNode node;
    bool met = false;
  };
  std::vector<NeedOf> needs;
  Lists needs_with(count);  // by node: the needs that it could meet
  std::vector<std::size_t> unmet(count);
  std::vector<bool> acts(count);
  std::vector<WaitNode> fresh;
  for (WaitNode node = 0; node < count; ++node) {
    const Waiter& waiter = graph.nodes[node];
    unmet[node] = waiter.needs.size();
    if (waiter.state == State::acts || (waiter.state == State::waits && waiter.needs.empty())) {
      acts[node] = true;
      fresh.push_back(node);
    }
    if (!waits(waiter)) continue;
    for (const Need& need : waiter.needs) {
      for (const WaitNode other : need.any_of) {
        needs_with[other].push_back(static_cast<WaitNode>(needs.size()));
      }
      needs.push_back({node});
    }
  }
  while (!fresh.empty()) {
    const WaitNode node = fresh.back();
    fresh.pop_back();
    for (const WaitNode need : needs_with[node]) {
      if (needs[need].met) continue;
      needs[need].met = true;
      const WaitNode waiter = needs[need].node;
      if (--unmet[waiter] == 0) {
        acts[waiter] = true;
        fresh.push_back(waiter);
      }
    }
  }
  return acts;
}

// Removes parts and groups without a path to a node that stands for itself: all of theirs are gone.
// Parts may need other parts or groups, so this takes some rounds.
void leave_out_dead_ends(const WaitGraph& graph, Lists& edges) {
  for (bool found = true; found;) {
    found = false;
    for (std::vector<WaitNode>& of_node : edges) {
      found =
          std::erase_if(of_node,
                        [&](WaitNode other) {
                          return graph.nodes[other].kind != Kind::itself && edges[other].empty();
                        }) > 0 ||
          found;
    }
  }
}

// Edges from each stuck node to the stuck nodes of its unmet needs.
Lists edges_among_stuck(const WaitGraph& graph, const std::vector<bool>& stuck,
                        const std::vector<bool>& acts) {
  Lists edges(graph.nodes.size());
  for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
    if (!stuck[node]) continue;
    for (const Need& need : graph.nodes[node].needs) {
      const bool met = std::any_of(need.any_of.begin(), need.any_of.end(),
                                   [&](WaitNode other) { return acts[other]; });
      if (met) continue;
      for (const WaitNode other : need.any_of) {
        if (stuck[other]) edges[node].push_back(other);
      }
    }
    std::sort(edges[node].begin(), edges[node].end());
    edges[node].erase(std::unique(edges[node].begin(), edges[node].end()), edges[node].end());
  }
  leave_out_dead_ends(graph, edges);
  return edges;
}

// Tarjan's strongly connected components, without recursion. By node: the number of its component.
class Components {
 public:
  explicit Components(const Lists& edges) : edges_(edges), of_(edges.size(), kUnseen) {
    std::vector<std::uint32_t> seen(edges.size(), kUnseen), low(edges.size());
    std::vector<bool> open(edges.size());
    std::vector<WaitNode> stack;
    std::uint32_t next = 0;
    struct Visit {
      WaitNode node;
      std::size_t edge;
    };
    for (WaitNode root = 0; root < edges.size(); ++root) {
      if (seen[root] != kUnseen) continue;
      std::vector<Visit> path{{root, 0}};
      while (!path.empty()) {
        const WaitNode node = path.back().node;
        if (path.back().edge == 0 && seen[node] == kUnseen) {
          seen[node] = low[node] = next++;
          stack.push_back(node);
          open[node] = true;
        }
        if (path.back().edge < edges[node].size()) {
          const WaitNode other = edges[node][path.back().edge++];
          if (seen[other] == kUnseen) {
            path.push_back({other, 0});
          } else if (open[other]) {
            low[node] = std::min(low[node], seen[other]);
          }
          continue;
        }
        if (low[node] == seen[node]) close(node, stack, open);
        path.pop_back();
        if (!path.empty()) {
          low[path.back().node] = std::min(low[path.back().node], low[node]);
        }
      }
    }
  }

  // The components with a cycle that lead to no other one.
  std::vector<std::vector<WaitNode>> last_with_cycle() const {
    std::vector<std::vector<WaitNode>> found;
    for (const std::vector<WaitNode>& component : all_) {
      bool leads_on = false, has_cycle = component.size() > 1;
      for (const WaitNode node : component) {
        for (const WaitNode other : edges_[node]) {
          leads_on = leads_on || of_[other] != of_[node];
          has_cycle = has_cycle || other == node;
        }
      }
      if (has_cycle && !leads_on) found.push_back(component);
    }
    return found;
  }

 private:
  void close(WaitNode root, std::vector<WaitNode>& stack, std::vector<bool>& open) {
    std::vector<WaitNode>& component = all_.emplace_back();
    WaitNode node = kUnseen;
    do {
      node = stack.back();
      stack.pop_back();
      open[node] = false;
      of_[node] = static_cast<std::uint32_t>(all_.size() - 1);
      component.push_back(node);
    } while (node != root);
    std::sort(component.begin(), component.end());
  }

  const Lists& edges_;
  std::vector<std::uint32_t> of_;
  std::vector<std::vector<WaitNode>> all_;
};

// Shortest cycles of nodes that stand for themselves.
class CycleSearch {
 public:
  CycleSearch(const WaitGraph& graph, const Lists& edges)
      : graph_(graph), edges_(edges), seen_(edges.size()), from_(edges.size()) {}

  // The shortest cycle of a component; empty: a node is in it only through a group to which it
  // belongs itself.
  std::vector<WaitNode> shortest(const std::vector<WaitNode>& component) {
    std::vector<WaitNode> shortest;
    std::size_t bound = component.size() + 1, starts = 0;
    for (const WaitNode node : component) {
      if (graph_.nodes[node].kind != Kind::itself) continue;
      if (++starts > kMostStarts) break;
      std::vector<WaitNode> cycle = through(node, bound);
      if (cycle.empty()) continue;
      bound = cycle.size();
      shortest = std::move(cycle);
    }
    std::rotate(shortest.begin(), std::min_element(shortest.begin(), shortest.end()),
                shortest.end());
    return shortest;
  }

 private:
  // A cycle through `start` shorter than `bound` nodes; empty: there is none.
  std::vector<WaitNode> through(WaitNode start, std::size_t bound) {
    start_ = start;
    ++stamp_;
    std::vector<WaitNode> now{start};
    next_.clear();
    for (std::size_t length = 1; length < bound && !now.empty(); ++length) {
      for (const WaitNode node : now) {
        if (comes_back(node, node, false)) return cycle_to(node);
      }
      now.swap(next_);
      next_.clear();
    }
    return {};
  }

  // Continues from `at`, which is `node` or a part or group that it needs.
  bool comes_back(WaitNode node, WaitNode at, bool by_group) {
    for (const WaitNode other : edges_[at]) {
      const Kind kind = graph_.nodes[other].kind;
      if (kind == Kind::part) {
        if (comes_back(node, other, by_group)) return true;
      } else if (kind == Kind::group) {
        if (seen_[other] == stamp_) {
          // It leads only back to the start, for which it does not stand.
          if (node != start_ && leads_to_start(other)) return true;
        } else {
          seen_[other] = stamp_;
          if (comes_back(node, other, true)) return true;
        }
      } else if (other == start_) {
        if (node != start_ || !by_group) return true;
      } else if (seen_[other] != stamp_) {
        seen_[other] = stamp_;
        from_[other] = node;
        next_.push_back(other);
      }
    }
    return false;
  }

  bool leads_to_start(WaitNode group) const {
    return std::binary_search(edges_[group].begin(), edges_[group].end(), start_);
  }

  std::vector<WaitNode> cycle_to(WaitNode node) const {
    std::vector<WaitNode> cycle;
    for (; node != start_; node = from_[node]) cycle.push_back(node);
    cycle.push_back(start_);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  const WaitGraph& graph_;
  const Lists& edges_;
  std::vector<std::uint32_t> seen_;  // by node: in which search
  std::uint32_t stamp_ = 0;
  std::vector<WaitNode> from_, next_;
  WaitNode start_ = 0;
};

}  // namespace

Deadlock find_deadlock(const WaitGraph& graph) {
  const std::vector<bool> acts = find_acting(graph);
  Deadlock found;
  found.stuck.resize(graph.nodes.size());
  for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
    found.stuck[node] = waits(graph.nodes[node]) && !acts[node];
  }
  const Lists edges = edges_among_stuck(graph, found.stuck, acts);
  CycleSearch search(graph, edges);
  for (const std::vector<WaitNode>& component : Components(edges).last_with_cycle()) {
    std::vector<WaitNode> cycle = search.shortest(component);
    if (!cycle.empty()) found.cycles.push_back(std::move(cycle));
  }
  std::sort(found.cycles.begin(), found.cycles.end());
  return found;
}

namespace {

// The waits, backwards.
class Backward {
 public:
  explicit Backward(const WaitGraph& graph)
      : graph_(graph), for_(graph.nodes.size()), seen_(graph.nodes.size()) {
    for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
      if (!waits(graph.nodes[node])) continue;
      for (const Need& need : graph.nodes[node].needs) {
        for (const WaitNode other : need.any_of) for_[other].push_back(node);
      }
    }
  }

  // The nodes with a need that a node could meet.
  const std::vector<WaitNode>& directly(WaitNode node) const { return for_[node]; }

  // All nodes with a path to one of these, including these.
  std::vector<WaitNode> through(const std::vector<WaitNode>& direct) {
    ++stamp_;
    std::vector<WaitNode> open, found;
    const auto add = [&](WaitNode node) {
      if (seen_[node] == stamp_) return;
      seen_[node] = stamp_;
      open.push_back(node);
      if (graph_.nodes[node].kind == Kind::itself) found.push_back(node);
    };
    for (const WaitNode node : direct) add(node);
    while (!open.empty()) {
      const WaitNode node = open.back();
      open.pop_back();
      for (const WaitNode other : for_[node]) add(other);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  const WaitGraph& graph_;
  Lists for_;
  std::vector<std::uint32_t> seen_;  // by node: in which search
  std::uint32_t stamp_ = 0;
};

}  // namespace

std::vector<ChainEnd> chain_ends(const WaitGraph& graph, std::size_t most) {
  Backward waiting(graph);
  // Nodes with the same waiting nodes agree in everything else, too.
  std::map<std::vector<WaitNode>, std::vector<WaitNode>> ends_of;
  for (WaitNode end = 0; end < graph.nodes.size(); ++end) {
    const Waiter& node = graph.nodes[end];
    if (waits(node) || node.kind != Kind::itself || waiting.directly(end).empty()) continue;
    ends_of[waiting.directly(end)].push_back(end);
  }
  std::vector<ChainEnd> found;
  const auto comes_first = [](const ChainEnd& a, const ChainEnd& b) {
    return a.waiting.size() != b.waiting.size() ? a.waiting.size() > b.waiting.size()
                                                : a.node < b.node;
  };
  for (const auto& [direct, ends] : ends_of) {
    const std::vector<WaitNode> all = waiting.through(direct);
    for (std::size_t i = 0; i < std::min(most, ends.size()); ++i) found.push_back({ends[i], all});
    std::sort(found.begin(), found.end(), comes_first);
    if (found.size() > most) found.resize(most);
  }
  return found;
}

}  // namespace uctrace::merge
