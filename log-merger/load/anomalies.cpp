// Notes for people about missing, duplicate, contradictory or doubtful data in the logs of a job.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "event-log/format/file_systems.hpp"
#include "event-log/reader/counter_file.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/job/long_lists.hpp"
#include "log-merger/model/drop_words.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/communicators.hpp"

namespace uctrace::merge {

namespace {

using std::chrono::system_clock;

// Ends the note about those that get no note of their own.
constexpr const char* kListed = ": `uctrace info --format json` lists them";

class Noter {
 public:
  explicit Noter(Job& job) : job_(job) {}

  void note_all() {
    note_each("more logs are damaged", [](const ProcessLog& log) {
      std::vector<std::string> lines;
      for (const std::string& sentence : log.file.damage().sentences()) {
        lines.push_back(fmt::format("{}: {}", log.file.name(), sentence));
      }
      return lines;
    });
    note_each("more logs lost records", losses_of);
    note_each("more logs have clocks that went backwards",
              [&](const ProcessLog& log) { return find_backward(log); });
    note_each("more logs hold what no process writes so",
              [&](const ProcessLog& log) { return find_impossible(log); });
    for (const ProcessLog& log : job_.logs) find_contradictions(log);
    note_contradictions();
    note_without_events();
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

  // Adds the lines of `lines_of` for each log.
  template <typename LinesOf>
  void note_each(const char* rest, LinesOf lines_of) {
    NotesOfKind notes(job_.run.notes, std::string(rest) + kListed);
    for (const ProcessLog& log : job_.logs) {
      std::vector<std::string> lines = lines_of(log);
      if (!lines.empty()) notes.add(std::move(lines));
    }
  }

  static std::vector<std::string> losses_of(const ProcessLog& log) {
    std::vector<std::string> lines;
    const DropCounts dropped = log.file.dropped_by_cause();
    const log::ProcessPage& page = log.file.page();
    for (const log::DropCause cause : causes_in(dropped)) {
      const DropWords words =
          drop_words(cause, page.write_errno, log::file_system_of(page.file_system).name);
      lines.push_back(fmt::format("{}: {} records were dropped: {}; {}", log.file.name(),
                                  dropped[static_cast<std::size_t>(cause)], words.why,
                                  words.to_do));
    }
    return lines;
  }

  std::vector<std::string> find_backward(const ProcessLog& log) {
    const std::uint64_t anchors = log.clock.backward_anchors(), calls = log.backward_calls,
                        events = log.record_faults.backward;
    if (anchors + calls + events == 0) return {};
    job_.findings.backward_clocks.push_back({log.file.name(), anchors, calls, events});
    const std::string what =
        anchors != 0 ? ""
        : calls != 0
            ? fmt::format("{} MPI calls begin before the one before them in their thread ended: ",
                          calls)
            : fmt::format(
                  "{} events are over more than 1 ms before an earlier one of their thread began: ",
                  events);
    return {fmt::format("{}: {}its clock went backwards; do not trust its times", log.file.name(),
                        what)};
  }

  // Other records may refer to definitions that the log lacks, or had no hook for.
  static bool lacks_definitions(const ProcessLog& log) {
    return !log.file.complete() ||
           std::any_of(log.faults.begin(), log.faults.end(), [](const auto& fault) {
             const auto code = static_cast<log::FaultCode>(fault.first.head.a);
             return code == log::FaultCode::left_out || code == log::FaultCode::out_of_interfaces;
           });
  }

  std::vector<std::string> find_impossible(const ProcessLog& log) {
    const RecordFaults& faults = log.record_faults;
    std::vector<std::string> lines;
    const auto add = [&](std::uint64_t records, const char* what) {
      if (records == 0) return;
      job_.findings.impossible.push_back({log.file.name(), what, records});
      lines.push_back(fmt::format("{}: {} {}: the file is damaged, or it is a defect of uctrace",
                                  log.file.name(), records, what));
    };
    add(faults.repeated_ids, "operations or arrivals have an id that an earlier one has");
    add(faults.foreign_ids,
        "operations or arrivals have an id that their thread cannot have given");
    if (lacks_definitions(log)) return lines;
    add(faults.unknown_interfaces,
        "UCT operations or arrivals are of interfaces that the log does not define");
    add(faults.unknown_endpoints, "UCT operations are on endpoints that the log does not define");
    add(faults.useless_ends, "completions are of no operation, or of one that had ended");
    return lines;
  }

  // A log that claims to be complete must contain what its process counted.
  void find_contradictions(const ProcessLog& log) {
    if (!log.file.complete() || log.recorded.overwritten != 0) {
      return;  // only the number of overwritten events is known
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
    NotesOfKind notes(job_.run.notes, std::string("more such contradictions") + kListed);
    for (const Contradiction& c : job_.findings.contradictions) {
      notes.add(
          fmt::format("{}: it counted {} {} and holds records of {}, although it looks whole: the "
                      "file is damaged, or it is a defect of uctrace",
                      c.log, c.counted, c.what, c.recorded));
    }
  }

  // While others recorded some. Deliberate omissions are reported elsewhere.
  void note_without_events() {
    const auto is_empty = [](const ProcessLog& log) { return log.file.event_count() == 0; };
    if (job_.partly_recorded() || std::all_of(job_.logs.begin(), job_.logs.end(), is_empty)) return;
    const std::string empty = processes_that(is_empty);
    if (empty.empty()) return;
    note(
        "no event of {}: a process that used neither MPI nor UCX, or whose layers are off, or that "
        "ended before",
        empty);
  }

  struct Ranks {
    std::set<std::int32_t> present;
    std::int32_t size = 0;
  };

  // Each spawned world has its own ranks.
  void note_missing_ranks() {
    std::map<Index, Ranks> worlds;
    for (const ProcessLog& log : job_.logs) {
      Ranks& ranks = worlds[was_spawned(log) ? log.world : kNone];
      if (log.rank() >= 0) {
        ranks.present.insert(log.rank());
      }
      ranks.size = std::max(ranks.size, log.file.page().world_size);
    }
    for (const auto& [world, ranks] : worlds) {
      note_missing_ranks(ranks, world == kNone ? "" : " of a spawned world");
    }
  }

  void note_missing_ranks(const Ranks& ranks, const char* of_world) {
    // A damaged size may be anything: so the cost depends on the existing ranks.
    const auto here = static_cast<std::uint64_t>(
        std::distance(ranks.present.begin(), ranks.present.lower_bound(ranks.size)));
    const std::uint64_t missing = static_cast<std::uint64_t>(ranks.size) - here;
    job_.findings.missing_ranks += missing;
    if (missing == 0) {
      return;
    }
    NamedList named;
    for (std::int32_t rank = 0; rank < ranks.size && !named.is_full(); ++rank) {
      if (!ranks.present.contains(rank)) named.add(std::to_string(rank));
    }
    const char* why = job_.findings.unreadable() == 0
                          ? "its file is missing, or the process could not write one"
                          : "a log of the folder could not be read, which may be its";
    note("no log of rank {} (of {}){}: {}; what it sent and received is unmatched",
         named.text_of(missing), ranks.size, of_world, why);
  }

  // Without job names, processes of several jobs cannot be distinguished.
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

  // The processes for which `is_one` is true, by rank or log; empty = none.
  template <typename Predicate>
  std::string processes_that(Predicate is_one) {
    NamedList named;
    for (const ProcessLog& log : job_.logs) {
      if (is_one(log)) {
        named.add(log.rank() >= 0 ? fmt::format("rank {}", log.rank()) : log.file.name());
      }
    }
    return named.text();
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
    NotesOfKind steps(job_.run.notes, std::string("more wall clocks were set") + kListed);
    for (const WallClockStep& step : job_.findings.wall_clock_steps) {
      steps.add(
          fmt::format("the wall clock of host {} was set {} by {} during the run: its times "
                      "against other hosts are off by up to that",
                      step.host, step.step_ns < 0 ? "back" : "forward", duration(step.step_ns)));
    }
    NotesOfKind disagreements(job_.run.notes, std::string("more clocks differ so") + kListed);
    for (const ClockDisagreement& d : job_.findings.clock_disagreements) {
      disagreements.add(
          fmt::format("{}: its clocks and those of {} on the same host differ by {}: a container "
                      "with clocks of its own, or the wall clock was set in between; do not "
                      "compare their times",
                      d.log, d.with, duration(d.by_ns)));
    }
  }

  static std::string duration(std::int64_t ns) {
    return format_duration(static_cast<std::uint64_t>(ns < 0 ? -ns : ns));
  }

  void note_nothing() {
    if (!job_.partly_recorded() && job_.uct.empty() && job_.ucp.empty() && job_.calls.empty() &&
        job_.arrivals.empty()) {
      if (has_counter_files()) {
        note("no event was recorded: only counters were kept (see `uctrace counters`)");
      } else {
        note(
            "no event was recorded: the processes used neither MPI nor UCX, or their layers are "
            "off (see Layers)");
      }
    }
  }

  bool has_counter_files() const {
    return std::any_of(job_.logs.begin(), job_.logs.end(), [](const ProcessLog& log) {
      std::error_code error;
      return std::filesystem::exists(log::counters_beside(log.file.name()), error);
    });
  }

  Job& job_;
};

}  // namespace

void note_anomalies(Job& job) { Noter(job).note_all(); }

void note_clock_violations(Job& job) {
  NotesOfKind notes(job.run.notes, std::string("more pairs of hosts have such messages") + kListed);
  for (const ViolationsOfPair& pair : job.findings.violations) {
    const std::string worst = format_duration(static_cast<std::uint64_t>(pair.worst_ns));
    notes.add(
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
