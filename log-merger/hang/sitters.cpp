#include "log-merger/hang/sitters.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

// A process that died this long before the newest instant of the living ones was already gone for
// them. The delays of a launcher that ends a job, and of helper threads without a core, are
// shorter.
constexpr std::int64_t kGoneBeforeNs = 5'000'000'000;

// Within this time a living log gets something new, even if cores are scarce.
constexpr std::int64_t kSilentAfterNs = 2'000'000'000;

// So many test calls in a row count as a loop, if the newest is no older than this.
constexpr std::uint64_t kLeastPolls = 10;
constexpr std::int64_t kNewestPollNs = 1'000'000'000;

constexpr std::uint32_t kLaneInUse = 1;

bool may_live(const std::string& exit) { return exit == "running" || exit == "unseen"; }

// Of the processes that may live; if there are none, of all.
std::int64_t newest_instant(const Job& job) {
  std::int64_t of_living = -1, of_all = -1;
  for (const ProcessIndex process : job.logs.indexes()) {
    if (!is_rank(job, process)) continue;
    const std::int64_t last = last_instant(job.logs[process]);
    of_all = std::max(of_all, last);
    if (may_live(exit_of(job, process))) of_living = std::max(of_living, last);
  }
  return of_living >= 0 ? of_living : of_all;
}

// A process that called MPI_Abort was in it, and acted, until the job was over.
void find_gone_and_silent(const Job& job, Sitters& found) {
  const std::int64_t newest = newest_instant(job);
  const bool runs = may_run(state_of(job));
  for (const ProcessIndex process : job.logs.indexes()) {
    const std::string& exit = exit_of(job, process);
    const std::int64_t behind = newest - last_instant(job.logs[process]);
    const bool died = exit == "killed" || (exit == "aborted" && runs);
    const bool gone = exit == "finalized" || exit == "exited" || (died && behind > kGoneBeforeNs);
    found.gone[process] = gone;
    found.silent[process] = !gone && is_rank(job, process) && behind > kSilentAfterNs &&
                            has_newest_instant(job.logs[process]);
  }
}

// Clocks of several hosts differ.
HangInstants instants_of(const Job& job, const Sitters& found) {
  HangInstants instants;
  bool any = false;
  for (const ProcessIndex process : job.logs.indexes()) {
    if (found.gone[process] || found.silent[process] || !is_rank(job, process)) continue;
    const std::int64_t last =
        has_newest_instant(job.logs[process]) ? last_instant(job.logs[process]) : -1;
    instants.common_ns = any ? std::min(instants.common_ns, last) : last;
    any = true;
  }
  instants.common_ns -= static_cast<std::int64_t>(std::ceil(job.clock_error_ns));
  return instants;
}

// Calls of one or more test functions, without other calls between, up to the newest.
void find_polls(const Job& job, const std::vector<CallIndex>& calls, Sitter& sitter) {
  const auto function = [&](CallIndex call) -> const std::string& {
    return job.run.texts[job.calls[call].function];
  };
  std::uint64_t polls = 0;
  auto call = calls.rbegin();
  for (; call != calls.rend() && only_tests(function(*call)); ++call) ++polls;
  if (polls < kLeastPolls) return;
  const MpiCall& newest = job.calls[calls.back()];
  const std::int64_t until = newest.open ? newest.start_ns : newest.end_ns;
  if (last_instant(job.logs[sitter.process]) - until > kNewestPollNs) return;
  sitter.polls = polls;
  sitter.polled = calls.back();
  sitter.since_ns = job.calls[*(call.base())].start_ns;
}

Sitter sitter_of(const Job& job, ProcessIndex process, std::size_t lane) {
  Sitter sitter;
  sitter.process = process;
  sitter.lane = static_cast<std::uint16_t>(lane);
  const std::vector<CallIndex>& calls = job.logs[process].calls_of_lane[lane];
  for (auto call = calls.rbegin(); call != calls.rend() && sitter.last == kNone; ++call) {
    (job.calls[*call].open ? sitter.call : sitter.last) = *call;
  }
  // A thread outside calls may have made many calls that were not recorded.
  const bool all_recorded = job.logs[process].recorded.whole();
  if (sitter.call == kNone && !all_recorded) sitter.last = kNone;
  sitter.since_ns = sitter.call != kNone   ? job.calls[sitter.call].start_ns
                    : sitter.last != kNone ? job.calls[sitter.last].end_ns
                                           : -1;
  const bool may_poll = all_recorded && lane_lives(job.logs[process], lane);
  if (sitter.call != kNone || may_poll) find_polls(job, calls, sitter);
  return sitter;
}

}  // namespace

const char* name_of(HangState state) {
  switch (state) {
    case HangState::running:
      return "running";
    case HangState::unseen:
      return "unseen";
    case HangState::killed:
      return "killed";
    case HangState::aborted:
      return "aborted";
    case HangState::finished:
      return "finished";
  }
  return "?";
}

bool is_rank(const Job& job, ProcessIndex process) {
  return job.run.processes[process.place()].rank >= 0;
}

bool lane_lives(const ProcessLog& log, std::size_t lane) {
  return lane >= log.file.lanes().size() || log.file.lanes()[lane].state == kLaneInUse;
}

bool has_newest_instant(const ProcessLog& log) { return log.file.page().chunk_bytes == 0; }

const std::string& exit_of(const Job& job, ProcessIndex process) {
  return job.run.texts[job.run.processes[process.place()].exit];
}

bool may_run(HangState state) { return state == HangState::running || state == HangState::unseen; }

HangState state_of(const Job& job) {
  bool unseen = false, killed = false, aborted = false;
  for (const ProcessIndex process : job.logs.indexes()) {
    if (!is_rank(job, process)) continue;
    const std::string& exit = exit_of(job, process);
    if (exit == "running") return HangState::running;
    unseen = unseen || exit == "unseen";
    killed = killed || exit == "killed";
    aborted = aborted || exit == "aborted";
  }
  if (unseen) return HangState::unseen;
  return aborted ? HangState::aborted : killed ? HangState::killed : HangState::finished;
}

bool only_tests(const std::string& function) {
  constexpr std::string_view kTests[] = {
      "test", "testall", "testany", "testsome", "request_get_status", "win_test", "parrived"};
  const MpiName name = parse_mpi_name(function);
  const bool probes = name.nonblocking && (name.base == "probe" || name.base == "mprobe");
  return probes || std::find(std::begin(kTests), std::end(kTests), name.base) != std::end(kTests);
}

Sitters find_sitters(const Job& job) {
  Sitters found;
  found.gone.resize(job.logs.size());
  found.silent.resize(job.logs.size());
  found.of.resize(job.logs.size());
  find_gone_and_silent(job, found);
  found.instants = instants_of(job, found);
  for (const ProcessIndex process : job.logs.indexes()) {
    const std::size_t before = found.all.size();
    found.of[process] = {before, before};
    if (!is_rank(job, process)) continue;
    const ProcessLog& log = job.logs[process];
    Sitter newest_ended;  // of its threads that have ended
    newest_ended.process = process;
    for (std::size_t lane = 0; lane < log.calls_of_lane.size(); ++lane) {
      if (log.calls_of_lane[lane].empty()) continue;
      const Sitter sitter = sitter_of(job, process, lane);
      if (sitter.call != kNone || lane_lives(log, lane)) {
        found.all.push_back(sitter);
      } else if (sitter.since_ns > newest_ended.since_ns) {
        newest_ended = sitter;
      }
    }
    if (found.all.size() == before) found.all.push_back(newest_ended);
    found.of[process].end = found.all.size();
    for (std::size_t i = before; i < found.all.size(); ++i) {
      Sitter& sitter = found.all[i];
      sitter.settled = !found.silent[process] && sitter.since_ns <= found.instants.common_ns;
    }
  }
  return found;
}

}  // namespace uctrace::merge
