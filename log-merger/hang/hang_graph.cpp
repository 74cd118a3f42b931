#include "log-merger/hang/hang_graph.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace uctrace::merge {

namespace {

using State = Waiter::State;
using Kind = Waiter::Kind;

class GraphMaker {
 public:
  GraphMaker(const Job& job, const Sitters& sitters, const std::vector<Waiting>& waiting,
             IfUnsure if_unsure)
      : sitters_(sitters), waiting_(waiting), if_unsure_(if_unsure) {
    graph_.nodes.resize(job.logs.size());
    outside_ = add({State::acts, {}, Kind::group});
    for (const ProcessIndex process : job.logs.indexes()) {
      if (sitters.gone[process]) {
        graph_.nodes[process.place()].state = State::gone;
      } else if (!sitters.silent[process]) {
        add_process(process);
      }
    }
  }

  WaitGraph made() { return std::move(graph_); }

 private:
  WaitNode add(Waiter waiter) {
    graph_.nodes.push_back(std::move(waiter));
    return static_cast<WaitNode>(graph_.nodes.size() - 1);
  }

  // A process acts once one of its threads does.
  void add_process(ProcessIndex process) {
    const auto [begin, end] = sitters_.of[process];
    if (end - begin <= 1) {
      if (begin < end) graph_.nodes[process.place()] = thread(begin, Kind::itself);
      return;
    }
    Need any_thread;
    for (std::size_t i = begin; i < end; ++i) {
      any_thread.any_of.push_back(add(thread(i, Kind::part)));
    }
    graph_.nodes[process.place()] = {State::waits, {std::move(any_thread)}};
  }

  Waiter thread(std::size_t i, Kind kind) {
    const Waiting& waiting = waiting_[i];
    Waiter waiter;
    waiter.kind = kind;
    if (!sitters_.all[i].settled || waiting.goes_on) return waiter;
    Need one_wait;
    for (const OpenWait& wait : waiting.waits) {
      if (!wait.unsure.empty() && if_unsure_ == IfUnsure::acts) {
        if (waiting.any) return waiter;
        continue;
      }
      std::vector<Need> needs = needs_of(wait);
      if (waiting.any) {
        one_wait.any_of.push_back(add({State::waits, std::move(needs), Kind::part}));
      } else {
        std::move(needs.begin(), needs.end(), std::back_inserter(waiter.needs));
      }
    }
    if (waiting.any) waiter.needs.push_back(std::move(one_wait));
    // Some of the conditions that must all hold are not known: the known ones still block it.
    const bool unknown = !waiting.unknown.empty() && waiting.any;
    if (!waiter.needs.empty() && !unknown) waiter.state = State::waits;
    return waiter;
  }

  std::vector<Need> needs_of(const OpenWait& wait) {
    std::vector<Need> needs;
    if (wait.never) needs.push_back({});
    if (!wait.any && wait.of->size() <= 1) {
      for (const WaitNode member : members_of(*wait.of)) needs.push_back({{member}});
    } else {
      needs.push_back({{group_of(wait.of, wait.any)}});
    }
    return needs;
  }

  std::vector<WaitNode> members_of(const RankGroup& group) const {
    std::vector<WaitNode> nodes;
    for (const ProcessIndex process : group.processes) {
      nodes.push_back(static_cast<WaitNode>(process.place()));
    }
    if (!group.complete || group.missing > 0) nodes.push_back(outside_);
    return nodes;
  }

  // One node for all that wait for the same group: for any member, or for all.
  WaitNode group_of(const RankGroupRef& group, bool any) {
    const auto [known, fresh] = groups_.try_emplace({group.get(), any});
    if (!fresh) return known->second;
    Waiter waiter{State::waits, {}, Kind::group};
    if (any) {
      waiter.needs.push_back({members_of(*group)});
    } else {
      for (const WaitNode member : members_of(*group)) waiter.needs.push_back({{member}});
    }
    return known->second = add(std::move(waiter));
  }

  const Sitters& sitters_;
  const std::vector<Waiting>& waiting_;
  const IfUnsure if_unsure_;
  WaitGraph graph_;
  WaitNode outside_ = 0;  // processes without a log
  std::map<std::pair<const RankGroup*, bool>, WaitNode> groups_;
};

}  // namespace

WaitGraph make_hang_graph(const Job& job, const Sitters& sitters,
                          const std::vector<Waiting>& waiting, IfUnsure if_unsure) {
  return GraphMaker(job, sitters, waiting, if_unsure).made();
}

WaitGraph as_if_none_were_gone(WaitGraph graph) {
  for (Waiter& node : graph.nodes) {
    if (node.state == State::gone) node.state = State::acts;
  }
  return graph;
}

}  // namespace uctrace::merge
