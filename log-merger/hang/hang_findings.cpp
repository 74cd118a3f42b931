#include "log-merger/hang/hang_findings.hpp"

#include <algorithm>
#include <utility>

namespace uctrace::merge {

namespace {

constexpr std::size_t kChainEnds = 16;

}  // namespace

HangFindings::HangFindings(const Job& job)
    : job_(job), sitters_(find_sitters(job)), words_(job, sitters_), finder_(job, sitters_) {
  for (const Sitter& sitter : sitters_.all) waiting_.push_back(finder_.find(sitter));
  const WaitGraph all = make_hang_graph(job, sitters_, waiting_, IfUnsure::waits);
  find_stuck(make_hang_graph(job, sitters_, waiting_, IfUnsure::acts), all);
  ends_ = chain_ends(all, kChainEnds);
}

void HangFindings::find_stuck(const WaitGraph& sure, const WaitGraph& all) {
  found_ = find_deadlock(sure);
  if (any_stuck(found_)) {
    Deadlock if_all_were_there = find_deadlock(as_if_none_were_gone(sure));
    stuck_ = any_stuck(if_all_were_there) ? Stuck::deadlock : Stuck::gone;
    found_.cycles = std::move(if_all_were_there.cycles);
    return;
  }
  found_ = find_deadlock(as_if_none_were_gone(all));
  if (any_stuck(found_)) stuck_ = Stuck::possibly;
}

// A stuck thread does not count if another thread of its process can act.
bool HangFindings::any_stuck(const Deadlock& deadlock) const {
  const auto end = deadlock.stuck.begin() + static_cast<std::ptrdiff_t>(job_.logs.size());
  return std::find(deadlock.stuck.begin(), end, true) != end;
}

bool HangFindings::is_waiting(std::size_t i) const {
  return sitters_.all[i].settled && !waiting_[i].goes_on;
}

bool HangFindings::any_waits() const {
  for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
    if (is_waiting(i)) return true;
  }
  return false;
}

std::string HangFindings::function(CallIndex call) const {
  return job_.run.texts[job_.calls[call].function];
}

const Sitter* HangFindings::sitter_of(ProcessIndex process) const {
  const Sitter* chosen = nullptr;
  const auto [begin, end] = sitters_.of[process];
  for (std::size_t i = begin; i < end; ++i) {
    const Sitter& sitter = sitters_.all[i];
    if (chosen == nullptr || (chosen->call != kNone && sitter.call == kNone)) chosen = &sitter;
  }
  return chosen;
}

HangFindings::Json HangFindings::number_of(ProcessIndex process) const {
  return job_.run.processes[process.place()].rank;
}

std::vector<std::int64_t> HangFindings::ranks_of(const RankGroup& group) const {
  std::vector<std::int64_t> ranks = group.without_log;
  for (const ProcessIndex process : group.processes) {
    ranks.push_back(job_.run.processes[process.place()].rank);
  }
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() > RankGroup::kNamed + 1) ranks.resize(RankGroup::kNamed + 1);
  return ranks;
}

HangFindings::Json HangFindings::named(std::vector<std::int64_t> ranks, ProcessIndex but) const {
  if (but != kNone) std::erase(ranks, job_.run.processes[but.place()].rank);
  if (ranks.size() > RankGroup::kNamed) ranks.resize(RankGroup::kNamed);
  return ranks;
}

HangFindings::Json HangFindings::ranks_json(const OpenWait& wait) const {
  const auto [known, fresh] = known_ranks_.try_emplace(wait.of.get());
  if (fresh) known->second = ranks_of(*wait.of);
  return named(known->second, wait.but);
}

std::vector<ProcessIndex> HangFindings::processes_of(const std::vector<WaitNode>& cycle) const {
  std::vector<ProcessIndex> processes;
  for (const WaitNode node : cycle) processes.emplace_back(node);
  // Begin with the lowest rank.
  const auto least =
      std::min_element(processes.begin(), processes.end(), [&](ProcessIndex a, ProcessIndex b) {
        return job_.run.processes[a.place()].rank < job_.run.processes[b.place()].rank;
      });
  std::rotate(processes.begin(), least, processes.end());
  return processes;
}

}  // namespace uctrace::merge
