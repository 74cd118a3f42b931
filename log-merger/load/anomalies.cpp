// Notes for people about what is missing, doubled, contradictory or doubtful in the logs of a job.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "event-log/format/file_systems.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/model/drop_words.hpp"
#include "log-merger/model/quantities.hpp"

namespace uctrace::merge {

namespace {

using std::chrono::system_clock;

constexpr std::size_t kNamed = 16;  // of a long list

class Noter {
 public:
  explicit Noter(Job& job) : job_(job) {}

  void note_all() {
    for (const ProcessLog& log : job_.logs) {
      for (const std::string& sentence : log.file.damage().sentences()) {
        note("{}: {}", log.file.name(), sentence);
      }
      note_losses(log);
      note_backward(log);
      find_contradictions(log);
    }
    note_contradictions();
    note_missing_ranks();
    note_repeated_ranks();
    note_running();
    note_future();
    note_clocks();
    note_nothing();
  }

 private:
  template <typename... Arguments>
  void note(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    job_.run.notes.push_back(fmt::format(form, std::forward<Arguments>(arguments)...));
  }

  void note_losses(const ProcessLog& log) {
    const DropCounts dropped = log.file.dropped_by_cause();
    const log::ProcessPage& page = log.file.page();
    for (const log::DropCause cause : causes_in(dropped)) {
      const DropWords words =
          drop_words(cause, page.write_errno, log::file_system_of(page.file_system).name);
      note("{}: {} records were dropped: {}; {}", log.file.name(),
           dropped[static_cast<std::size_t>(cause)], words.why, words.to_do);
    }
  }

  void note_backward(const ProcessLog& log) {
    const std::uint64_t anchors = log.clock.backward_anchors(), calls = log.backward_calls;
    if (anchors + calls == 0) {
      return;
    }
    job_.findings.backward_clocks.push_back({log.file.name(), anchors, calls});
    if (anchors != 0) {
      note("{}: its clock went backwards; do not trust its times", log.file.name());
    } else {
      note(
          "{}: {} MPI calls begin before the one before them in their thread ended: its clock went "
          "backwards; do not trust its times",
          log.file.name(), calls);
    }
  }

  // A log that says it is whole must hold what its process counted.
  void find_contradictions(const ProcessLog& log) {
    if (!log.file.complete() || log.recorded.overwritten != 0) {
      return;  // of what was overwritten the number of events alone is known
    }
    const auto compare = [&](log::Layer layer, const char* what, std::uint64_t counted,
                             std::uint64_t recorded) {
      const bool off = log::is_off(log.file.page().layers[static_cast<std::size_t>(layer)]);
      if (!off && counted != recorded) {
        job_.findings.contradictions.push_back({log.file.name(), what, counted, recorded});
      }
    };
    const auto rows = [&](std::size_t at) {
      return job_.uct.begin() + static_cast<std::ptrdiff_t>(at);
    };
    const auto posted = std::count_if(rows(log.uct_rows.begin), rows(log.uct_rows.end),
                                      [](const UctOp& op) { return op.status >= 0; });
    std::uint64_t calls = 0;
    for (const auto& of_lane : log.calls_of_lane) calls += of_lane.size();
    const log::LaneCounters& counted = log.recorded.counted;
    compare(log::Layer::uct, "UCT operations", counted.uct_posted_ok,
            static_cast<std::uint64_t>(posted));
    compare(log::Layer::uct, "UCT arrivals", counted.uct_arrivals,
            log.file.event_count(log::RecordType::uct_arrival));
    compare(log::Layer::ucp, "UCP operations", counted.ucp_operations,
            log.ucp_rows.end - log.ucp_rows.begin);
    compare(log::Layer::mpi, "MPI calls", counted.mpi_calls, calls);
  }

  void note_contradictions() {
    for (const Contradiction& c : job_.findings.contradictions) {
      note(
          "{}: it counted {} {} and holds records of {}, although it looks whole: the file is "
          "damaged, or it is a defect of uctrace",
          c.log, c.counted, c.what, c.recorded);
    }
  }

  void note_missing_ranks() {
    std::set<std::int32_t> present;
    std::int32_t size = 0;
    for (const ProcessLog& log : job_.logs) {
      if (log.rank() >= 0) {
        present.insert(log.rank());
      }
      size = std::max(size, log.file.page().world_size);
    }
    // A damaged size may be anything: the cost is that of the ranks that are there.
    const auto here =
        static_cast<std::uint64_t>(std::distance(present.begin(), present.lower_bound(size)));
    const std::uint64_t missing = static_cast<std::uint64_t>(size) - here;
    job_.findings.missing_ranks = missing;
    if (missing == 0) {
      return;
    }
    std::vector<std::string> named;
    for (std::int32_t rank = 0; named.size() < std::min<std::uint64_t>(missing, kNamed); ++rank) {
      if (!present.contains(rank)) {
        named.push_back(std::to_string(rank));
      }
    }
    const char* why = job_.findings.unreadable() == 0
                          ? "its file is missing, or the process could not write one"
                          : "a log of the folder could not be read, which may be its";
    note("no log of rank {} (of {}): {}; what it sent and received is unmatched",
         list_of(named, missing), size, why);
  }

  static std::string list_of(const std::vector<std::string>& named, std::uint64_t count) {
    std::string list;
    for (const std::string& name : named) {
      list += (list.empty() ? "" : ", ") + name;
    }
    return count > named.size() ? list + fmt::format(" and {} more", count - named.size()) : list;
  }

  // Without a name for their job, processes of several jobs cannot be told apart.
  void note_repeated_ranks() {
    std::set<std::int32_t> seen;
    for (const ProcessLog& log : job_.logs) {
      if (log.rank() >= 0 && log.file.job().empty() && !seen.insert(log.rank()).second) {
        note(
            "rank {} is there more than once: the folder holds several jobs that no launcher gave "
            "a name, and they are taken for one; record each into a folder of its own",
            log.rank());
        return;
      }
    }
  }

  // The processes that `is_one` says yes to, by rank or log; none = empty.
  template <typename Predicate>
  std::string processes_that(Predicate is_one) {
    std::vector<std::string> named;
    std::uint64_t count = 0;
    for (const ProcessLog& log : job_.logs) {
      if (is_one(log) && ++count <= kNamed) {
        named.push_back(log.rank() >= 0 ? fmt::format("rank {}", log.rank()) : log.file.name());
      }
    }
    return list_of(named, count);
  }

  void note_running() {
    const std::string running = processes_that(
        [](const ProcessLog& log) { return log.file.state() == log::WriterState::running; });
    if (!running.empty()) {
      note("the job is still running ({}): this is what it wrote so far", running);
    }
  }

  void note_future() {
    constexpr std::uint64_t kHourNs = 3'600'000'000'000;
    const auto now = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count());
    const std::string future = processes_that([&](const ProcessLog& log) {
      return log.file.page().anchors[0].realtime_ns > now + kHourNs;
    });
    if (!future.empty()) {
      note("began in the future ({}): the wall clock of its host, or the one here, is wrong",
           future);
    }
  }

  void note_clocks() {
    for (const WallClockStep& step : job_.findings.wall_clock_steps) {
      note(
          "the wall clock of host {} was set {} by {} during the run: its times against other "
          "hosts "
          "are off by up to that",
          step.host, step.step_ns < 0 ? "back" : "forward", duration(step.step_ns));
    }
    for (const ClockDisagreement& d : job_.findings.clock_disagreements) {
      note(
          "{}: its clocks and those of {} on the same host differ by {}: a container with clocks "
          "of "
          "its own, or the wall clock was set in between; do not compare their times",
          d.log, d.with, duration(d.by_ns));
    }
  }

  static std::string duration(std::int64_t ns) {
    return format_duration(static_cast<std::uint64_t>(ns < 0 ? -ns : ns));
  }

  void note_nothing() {
    if (!job_.partly_recorded() && job_.uct.empty() && job_.ucp.empty() && job_.calls.empty() &&
        job_.arrivals.empty()) {
      note(
          "no event was recorded: the processes used neither MPI nor UCX, or their layers are off "
          "(see Layers)");
    }
  }

  Job& job_;
};

}  // namespace

void note_anomalies(Job& job) { Noter(job).note_all(); }

void note_clock_violations(Job& job) {
  for (const ViolationsOfPair& pair : job.findings.violations) {
    const std::string worst = format_duration(static_cast<std::uint64_t>(pair.worst_ns));
    job.run.notes.push_back(
        pair.src_host == pair.dst_host
            ? fmt::format(
                  "{} messages on host {} were received before they were sent, by up to {}: "
                  "its clock is not the same on all its cores, or a log is damaged",
                  pair.messages, pair.src_host, worst)
        : pair.measured
            ? fmt::format(
                  "{} messages from host {} to host {} were received before they were sent, by up "
                  "to "
                  "{}, which is more than the error of their measured clocks: one of these clocks "
                  "jumped, or a log is damaged; compare times only within a host",
                  pair.messages, pair.src_host, pair.dst_host, worst)
            : fmt::format(
                  "{} messages from host {} to host {} were received before they were sent, "
                  "by up to {}: their wall clocks disagree; synchronise them, and compare "
                  "times only within a host",
                  pair.messages, pair.src_host, pair.dst_host, worst));
  }
}

}  // namespace uctrace::merge
