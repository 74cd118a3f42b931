#include "log-merger/hang/hang_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

constexpr std::size_t kChainEnds = 16;

}  // namespace

HangFindings::HangFindings(const Job& job)
    : job_(job), sitters_(find_sitters(job)), finder_(job, sitters_) {
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

// A thread that is stuck while another one of its process acts is none.
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

std::string HangFindings::with_site(CallIndex call) const {
  const std::string site = call_site(job_, job_.calls[call]);
  return function(call) + (site.empty() ? "" : " at " + site);
}

std::string HangFindings::seat(const Sitter& sitter) const {
  const bool over = !may_run(state_of(job_));
  const char* const is = over ? "was" : "is";
  const bool aborted = exit_of(job_, sitter.process) == "aborted";
  if (sitters_.gone[sitter.process] || aborted) return gone_words(sitter.process);
  if (sitters_.silent[sitter.process]) return silent_words(sitter);
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
  if (!job_.logs[sitter.process].recorded.whole()) {
    return fmt::format("{} in no MPI call that was recorded: parts of its log are missing", is);
  }
  if (may_ask_for_partitions(sitter)) {
    return fmt::format(
        "{} in no MPI call that has a record{}; its last one was {}, and those of MPI_Parrived "
        "that "
        "find nothing have none",
        is, since, with_site(sitter.last));
  }
  if (sitter.last == kNone) return fmt::format("{} in no MPI call, and called none", is);
  return fmt::format("{} in no MPI call{}; its last one was {}", is, since, with_site(sitter.last));
}

std::string HangFindings::gone_words(ProcessIndex process) const {
  const std::string& exit = exit_of(job_, process);
  if (exit == "killed") return "was killed, or ended without a word, before";
  if (exit == "aborted") return "called MPI_Abort";
  return exit == "finalized" ? "has finalized MPI" : "has exited";
}

std::string HangFindings::silent_words(const Sitter& sitter) const {
  const std::int64_t last = last_instant(job_.logs[sitter.process]);
  return fmt::format(
      "{} nothing new in its log after {} of the job: its process was stopped, or its host or the "
      "file system does not answer; then it was in {}",
      may_run(state_of(job_)) ? "has" : "had",
      format_duration(static_cast<std::uint64_t>(std::max<std::int64_t>(0, last))),
      sitter.call == kNone ? "no MPI call" : with_site(sitter.call));
}

bool HangFindings::may_ask_for_partitions(const Sitter& sitter) const {
  const auto& lanes = job_.logs[sitter.process].file.lanes();
  return sitter.call == kNone && sitter.last != kNone && sitter.lane < lanes.size() &&
         lanes[sitter.lane].counters.mpi_polls > 0;
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
  // Begin with the least rank.
  const auto least =
      std::min_element(processes.begin(), processes.end(), [&](ProcessIndex a, ProcessIndex b) {
        return job_.run.processes[a.place()].rank < job_.run.processes[b.place()].rank;
      });
  std::rotate(processes.begin(), least, processes.end());
  return processes;
}

}  // namespace uctrace::merge
