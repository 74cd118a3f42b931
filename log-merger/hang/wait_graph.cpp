#include "log-merger/hang/wait_graph.hpp"

#include <algorithm>
#include <limits>

namespace uctrace::merge {

namespace {

using State = Waiter::State;
using Lists = std::vector<std::vector<WaitNode>>;
constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// From how many nodes of a component the shortest cycle is looked for: more would take the square
// of its size.
constexpr std::size_t kMostStarts = 256;

bool waits(const Waiter& node) { return node.state == State::waits && !node.needs.empty(); }

// Which nodes may act: those that do, and then all whose needs these meet. Each need is looked at
// once for each of its nodes that come to act.
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

// From each stuck node to the stuck ones of needs that none meets.
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

  // Those in which there is a cycle and which lead to no other one.
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

// The shortest cycle through `start` that is shorter than `bound` nodes; empty: there is none.
std::vector<WaitNode> cycle_through(const Lists& edges, WaitNode start, std::size_t bound) {
  std::vector<WaitNode> from(edges.size(), kUnseen);
  std::vector<WaitNode> now{start}, next;
  for (std::size_t length = 1; length < bound && !now.empty(); ++length) {
    for (const WaitNode node : now) {
      for (const WaitNode other : edges[node]) {
        if (other == start) {
          std::vector<WaitNode> cycle;
          for (WaitNode at = node; at != start; at = from[at]) cycle.push_back(at);
          cycle.push_back(start);
          std::reverse(cycle.begin(), cycle.end());
          return cycle;
        }
        if (from[other] != kUnseen) continue;
        from[other] = node;
        next.push_back(other);
      }
    }
    now.swap(next);
    next.clear();
  }
  return {};
}

std::vector<WaitNode> shortest_cycle(const Lists& edges, const std::vector<WaitNode>& component) {
  std::vector<WaitNode> shortest;
  std::size_t bound = component.size() + 1;
  for (std::size_t i = 0; i < std::min(component.size(), kMostStarts); ++i) {
    std::vector<WaitNode> cycle = cycle_through(edges, component[i], bound);
    if (cycle.empty()) continue;
    bound = cycle.size();
    shortest = std::move(cycle);
  }
  std::rotate(shortest.begin(), std::min_element(shortest.begin(), shortest.end()), shortest.end());
  return shortest;
}

}  // namespace

Deadlock find_deadlock(const WaitGraph& graph) {
  const std::vector<bool> acts = find_acting(graph);
  Deadlock found;
  found.stuck.resize(graph.nodes.size());
  for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
    found.stuck[node] = waits(graph.nodes[node]) && !acts[node];
  }
  const Lists edges = edges_among_stuck(graph, found.stuck, acts);
  for (const std::vector<WaitNode>& component : Components(edges).last_with_cycle()) {
    found.cycles.push_back(shortest_cycle(edges, component));
  }
  std::sort(found.cycles.begin(), found.cycles.end());
  return found;
}

std::vector<ChainEnd> chain_ends(const WaitGraph& graph, std::size_t most) {
  Lists waiting_for(graph.nodes.size());  // by node: who has a need that it could meet
  for (WaitNode node = 0; node < graph.nodes.size(); ++node) {
    if (!waits(graph.nodes[node])) continue;
    for (const Need& need : graph.nodes[node].needs) {
      for (const WaitNode other : need.any_of) waiting_for[other].push_back(node);
    }
  }
  std::vector<ChainEnd> ends;
  std::vector<std::uint32_t> seen_from(graph.nodes.size(), kUnseen);
  for (WaitNode end = 0; end < graph.nodes.size(); ++end) {
    if (waits(graph.nodes[end]) || waiting_for[end].empty()) continue;
    ChainEnd& found = ends.emplace_back();
    found.node = end;
    std::vector<WaitNode> open{end};
    seen_from[end] = end;
    while (!open.empty()) {
      const WaitNode node = open.back();
      open.pop_back();
      for (const WaitNode other : waiting_for[node]) {
        if (seen_from[other] == end) continue;
        seen_from[other] = end;
        found.waiting.push_back(other);
        open.push_back(other);
      }
    }
    std::sort(found.waiting.begin(), found.waiting.end());
    std::stable_sort(ends.begin(), ends.end(), [](const ChainEnd& a, const ChainEnd& b) {
      return a.waiting.size() > b.waiting.size();
    });
    if (ends.size() > most) ends.pop_back();
  }
  return ends;
}

}  // namespace uctrace::merge
