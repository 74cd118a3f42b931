#include "log-merger/waits/rank_times.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "log-merger/job/log_damage.hpp"
#include "log-merger/model/durations.hpp"

namespace uctrace::merge {

namespace {

// Calls whose waits are rows of Run::waits; during the rest of their time data moves, or the
// library works on it.
bool may_wait(RoleOfCall role) { return role.role != CallRole::other && !role.begins; }

class TimesOfProcess {
 public:
  explicit TimesOfProcess(ProcessIndex process) {
    times_.process = static_cast<std::uint32_t>(process.number());
  }

  void add_thread() { ++times_.threads; }

  // `waits` are those of the call.
  void add(const MpiCall& call, RoleOfCall role, MpiEdge edge, std::span<const Wait> waits) {
    if (call.start_ns < 0) return;
    const bool is_over = !call.open && call.end_ns >= call.start_ns;
    if (edge != MpiEdge::none) {
      edges_.add(edge, static_cast<std::int64_t>(edge_calls_.size()), call.start_ns);
      edge_calls_.emplace_back(call.start_ns, is_over ? call.end_ns : kNotOver);
    }
    if (!is_over) return;
    ++times_.calls;
    const std::int64_t ns = duration_ns(call.start_ns, call.end_ns);
    first_ns_ = std::min(first_ns_, call.start_ns);
    first_end_ns_ = std::min(first_end_ns_, call.end_ns);
    last_ns_ = std::max(last_ns_, call.end_ns);
    if (edge != MpiEdge::none) {
      add_ns(times_.start_and_end_ns, ns);
      return;
    }
    add_ns(times_.mpi_ns, ns);
    std::int64_t waiting = 0, unknown = 0;
    for (const Wait& wait : waits) {
      if (is_waiting(wait.kind)) add_ns(waiting, wait.ns);
      add_ns(unknown, wait.unknown_ns);
    }
    add_ns(times_.waiting_ns, waiting);
    if (may_wait(role)) {
      add_ns(times_.unknown_ns, unknown);
      // In a damaged log they may be longer than the call.
      if (waiting < ns) add_ns(times_.moving_ns, std::max<std::int64_t>(0, ns - waiting - unknown));
    } else {
      add_ns(times_.other_ns, ns);
    }
  }

  // The end of the first known call: a window may have opened in it.
  std::int64_t first_end_ns() const { return first_end_ns_; }

  std::optional<RankTime> finish() {
    if (times_.calls == 0) return std::nullopt;
    const std::int64_t start = edges_.start(), end = edges_.end();
    times_.t_begin_ns = start < 0 ? first_ns_ : edge_calls_[static_cast<std::size_t>(start)].second;
    if (times_.t_begin_ns == kNotOver) times_.t_begin_ns = first_ns_;
    times_.t_end_ns = end < 0 ? last_ns_ : edge_calls_[static_cast<std::size_t>(end)].first;
    for (const auto& [start_ns, end_ns] : edge_calls_) {
      const std::int64_t from_ns = std::max(start_ns, times_.t_begin_ns);
      const std::int64_t until_ns = std::min(end_ns, times_.t_end_ns);
      if (from_ns < until_ns) add_ns(times_.sessions_ns, duration_ns(from_ns, until_ns));
    }
    return times_;
  }

 private:
  static constexpr std::int64_t kNotOver = -1;

  // Start and end of the calls that start or end MPI or a session. A call that never returned
  // counts, too: time before MPI_Finalize belongs to the run, whether that was left or not.
  std::vector<std::pair<std::int64_t, std::int64_t>> edge_calls_;
  EdgesOfMpi edges_;
  RankTime times_;
  std::int64_t first_ns_ = INT64_MAX, first_end_ns_ = INT64_MAX, last_ns_ = -1;
};

std::span<const Wait> waits_of(const Run& run, CallIndex call) {
  const auto begin = std::partition_point(run.waits.begin(), run.waits.end(),
                                          [&](const Wait& w) { return w.call < call.number(); });
  auto end = begin;
  while (end != run.waits.end() && end->call == call.number()) ++end;
  return {begin, end};
}

// Whether each call that ended in [begin_ns, end_ns] was recorded.
bool has_all_calls(const ProcessLog& log, std::int64_t begin_ns, std::int64_t end_ns) {
  return log.dropped(log::DropKind::mpi) == 0 && unreadable_parts(log) == 0 &&
         log.whole(begin_ns, end_ns);
}

}  // namespace

void find_rank_times(Job& job, RolesOfCalls& roles, const std::vector<std::int64_t>& ideal_ns) {
  for (const ProcessIndex process : job.logs.indexes()) {
    TimesOfProcess times(process);
    for (const auto& lane : job.logs[process].calls_of_lane) {
      if (!lane.empty()) times.add_thread();
      for (const CallIndex index : lane) {
        const MpiCall& call = job.calls[index];
        times.add(call, roles(call), roles.edge(call), waits_of(job.run, index));
      }
    }
    std::optional<RankTime> row = times.finish();
    if (!row) continue;
    // Otherwise unrecorded calls would count as computing.
    if (has_all_calls(job.logs[process], times.first_end_ns(), row->t_end_ns)) {
      row->ideal_ns = ideal_ns[process.place()];
    }
    job.run.rank_times.push_back(*row);
  }
}

}  // namespace uctrace::merge
