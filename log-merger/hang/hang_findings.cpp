#include "log-merger/hang/hang_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

constexpr std::size_t kNamedRanks = 64;  // in a list of ranks that something waits for
constexpr std::size_t kChainEnds = 16;

}  // namespace

HangFindings::HangFindings(const Job& job)
    : job_(job), sitters_(find_sitters(job)), finder_(job, sitters_) {
  for (const Sitter& sitter : sitters_.all) waiting_.push_back(finder_.find(sitter));
  HangGraph sure = make_hang_graph(job, sitters_, waiting_, IfUnsure::acts);
  found_ = find_deadlock(sure.graph);
  is_sure_ = any_stuck(found_);
  owners_ = std::move(sure.owners);
  HangGraph all = make_hang_graph(job, sitters_, waiting_, IfUnsure::waits);
  ends_ = chain_ends(all.graph, kChainEnds);
  owners_of_all_ = std::move(all.owners);
  if (is_sure_) return;
  found_ = find_deadlock(all.graph);
  owners_ = owners_of_all_;
}

bool HangFindings::any_stuck(const Deadlock& deadlock) {
  return std::find(deadlock.stuck.begin(), deadlock.stuck.end(), true) != deadlock.stuck.end();
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

std::string HangFindings::with_site(CallIndex call) const {
  const std::string site = call_site(job_, job_.calls[call]);
  return function(call) + (site.empty() ? "" : " at " + site);
}

std::string HangFindings::seat(const Sitter& sitter) const {
  const bool over = state_of(job_) != HangState::running;
  const char* const is = over ? "was" : "is";
  if (sitters_.gone[sitter.process]) return gone_words(sitter.process);
  const std::string since =
      sitter.since_ns < 0
          ? ""
          : fmt::format(" since {} of the job",
                        format_duration(static_cast<std::uint64_t>(sitter.since_ns)));
  if (sitter.polls > 0) {
    return fmt::format("{} with {}{}, {} calls without another in between",
                       over ? "polled" : "polls", with_site(sitter.polled), since, sitter.polls);
  }
  if (sitter.call != kNone) return fmt::format("{} in {}{}", is, with_site(sitter.call), since);
  if (sitter.last == kNone) return fmt::format("{} in no MPI call, and called none", is);
  return fmt::format("{} in no MPI call{}; its last one was {}", is, since, with_site(sitter.last));
}

std::string HangFindings::gone_words(ProcessIndex process) const {
  const std::string& exit = exit_of(job_, process);
  if (exit == "killed") return "was killed, or ended without a word, before";
  if (exit == "aborted") return "called MPI_Abort";
  return exit == "finalized" ? "has finalized MPI" : "has exited";
}

const Sitter& HangFindings::sitter_of(ProcessIndex process) const {
  const Sitter* chosen = nullptr;
  for (const Sitter& sitter : sitters_.all) {
    if (sitter.process != process) continue;
    if (chosen == nullptr || (chosen->call != kNone && sitter.call == kNone)) chosen = &sitter;
  }
  return *chosen;
}

HangFindings::Json HangFindings::number_of(ProcessIndex process) const {
  return job_.run.processes[process.place()].rank;
}

HangFindings::Json HangFindings::group_json(const RankGroup& group) const {
  std::vector<std::int32_t> ranks = group.without_log;
  for (const ProcessIndex process : group.processes) {
    ranks.push_back(job_.run.processes[process.place()].rank);
  }
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() > kNamedRanks) ranks.resize(kNamedRanks);
  return ranks;
}

std::vector<ProcessIndex> HangFindings::processes_of(const std::vector<WaitNode>& cycle) const {
  std::vector<ProcessIndex> processes;
  for (const WaitNode node : cycle) {
    const std::int32_t owner = owners_[node];
    if (owner < 0) continue;
    const ProcessIndex process(owner);
    if (std::find(processes.begin(), processes.end(), process) == processes.end()) {
      processes.push_back(process);
    }
  }
  // Begin with the least rank.
  const auto least =
      std::min_element(processes.begin(), processes.end(), [&](ProcessIndex a, ProcessIndex b) {
        return job_.run.processes[a.place()].rank < job_.run.processes[b.place()].rank;
      });
  std::rotate(processes.begin(), least, processes.end());
  return processes;
}

}  // namespace uctrace::merge
