#include "log-merger/hang/hang_graph.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace uctrace::merge {

namespace {

using State = Waiter::State;

class GraphMaker {
 public:
  GraphMaker(const Job& job, const Sitters& sitters, const std::vector<Waiting>& waiting,
             IfUnsure if_unsure)
      : waiting_(waiting), if_unsure_(if_unsure) {
    std::vector<std::int32_t>& owners = made_.owners;
    WaitGraph& graph = made_.graph;
    graph.nodes.resize(job.logs.size());
    owners.assign(job.logs.size(), -1);
    outside_ = add({State::acts, {}});
    for (const ProcessIndex process : job.logs.indexes()) {
      owners[process.place()] = process.number();
      if (sitters.gone[process]) graph.nodes[process.place()].state = State::gone;
    }
    std::map<ProcessIndex, std::vector<std::size_t>> by_process;
    for (std::size_t i = 0; i < sitters.all.size(); ++i) {
      by_process[sitters.all[i].process].push_back(i);
    }
    for (const auto& [process, threads] : by_process) {
      if (!sitters.gone[process]) add_process(process, sitters, threads);
    }
  }

  HangGraph made() { return std::move(made_); }

 private:
  WaitNode add(Waiter waiter) {
    made_.graph.nodes.push_back(std::move(waiter));
    made_.owners.push_back(-1);
    return static_cast<WaitNode>(made_.graph.nodes.size() - 1);
  }

  // It acts once one of its threads does.
  void add_process(ProcessIndex process, const Sitters& sitters,
                   const std::vector<std::size_t>& threads) {
    const auto node = static_cast<WaitNode>(process.place());
    if (threads.size() == 1) {
      Waiter waiter = thread(sitters.all[threads.front()], waiting_[threads.front()]);
      made_.graph.nodes[node] = std::move(waiter);
      return;
    }
    Need any_thread;
    for (const std::size_t i : threads) {
      Waiter waiter = thread(sitters.all[i], waiting_[i]);
      any_thread.any_of.push_back(add(std::move(waiter)));
      made_.owners.back() = process.number();
    }
    made_.graph.nodes[node] = {State::waits, {std::move(any_thread)}};
  }

  Waiter thread(const Sitter& sitter, const Waiting& waiting) {
    Waiter waiter;
    if (!sitter.settled || waiting.goes_on) return waiter;
    Need one_wait;
    for (const OpenWait& wait : waiting.waits) {
      if (!wait.unsure.empty() && if_unsure_ == IfUnsure::acts) {
        if (waiting.any) return waiter;
        continue;
      }
      std::vector<Need> needs = needs_of(wait);
      if (waiting.any) {
        one_wait.any_of.push_back(add({State::waits, std::move(needs)}));
      } else {
        std::move(needs.begin(), needs.end(), std::back_inserter(waiter.needs));
      }
    }
    if (waiting.any) waiter.needs.push_back(std::move(one_wait));
    // Of several that must all happen some are not known: what is known holds it up all the same.
    const bool unknown = !waiting.unknown.empty() && waiting.any;
    if (!waiter.needs.empty() && !unknown) waiter.state = State::waits;
    return waiter;
  }

  std::vector<Need> needs_of(const OpenWait& wait) {
    std::vector<Need> needs;
    if (wait.never) needs.push_back({});
    if (wait.any) {
      needs.push_back({members_of(*wait.of)});
    } else if (wait.of->size() <= 1) {
      for (const WaitNode member : members_of(*wait.of)) needs.push_back({{member}});
    } else {
      needs.push_back({{all_of(wait.of)}});
    }
    return needs;
  }

  std::vector<WaitNode> members_of(const RankGroup& group) const {
    std::vector<WaitNode> nodes;
    for (const ProcessIndex process : group.processes) {
      nodes.push_back(static_cast<WaitNode>(process.place()));
    }
    if (!group.complete || !group.without_log.empty()) nodes.push_back(outside_);
    return nodes;
  }

  // One node for all who wait for the same group.
  WaitNode all_of(const RankGroupRef& group) {
    const auto known = groups_.find(group.get());
    if (known != groups_.end()) return known->second;
    Waiter waiter{State::waits, {}};
    for (const WaitNode member : members_of(*group)) waiter.needs.push_back({{member}});
    return groups_[group.get()] = add(std::move(waiter));
  }

  const std::vector<Waiting>& waiting_;
  const IfUnsure if_unsure_;
  HangGraph made_;
  WaitNode outside_ = 0;  // who left no log
  std::map<const RankGroup*, WaitNode> groups_;
};

}  // namespace

HangGraph make_hang_graph(const Job& job, const Sitters& sitters,
                          const std::vector<Waiting>& waiting, IfUnsure if_unsure) {
  return GraphMaker(job, sitters, waiting, if_unsure).made();
}

}  // namespace uctrace::merge
