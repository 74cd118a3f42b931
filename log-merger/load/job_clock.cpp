// Places the logs of a job on one clock, and finds contradictions between their clocks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {

// A wall clock disciplined by a time service may run up to 500 ppm off the raw monotonic clock; a
// difference beyond that plus this tolerance means that it was set.
constexpr std::int64_t kWallClockTolerance = 10'000'000;
constexpr double kLargestDrift = 600e-6;

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t distance = std::min<std::uint64_t>(a > b ? a - b : b - a, log::kFarAwayNs);
  return a > b ? static_cast<std::int64_t>(distance) : -static_cast<std::int64_t>(distance);
}

bool beyond_drift(std::int64_t by_ns, std::int64_t within_ns) {
  return static_cast<double>(std::abs(by_ns)) >
         static_cast<double>(kWallClockTolerance) +
             kLargestDrift * std::abs(static_cast<double>(within_ns));
}

std::int64_t wall_offset(const log::Anchor& anchor) {
  return difference(anchor.realtime_ns, anchor.monotonic_ns);
}

// Numbers the monotonic clocks of the logs.
void tell_clocks_apart(Job& job) {
  std::map<std::string, std::size_t> numbers;
  for (ProcessLog& log : job.logs) {
    log.monotonic_clock =
        numbers.try_emplace(log.file.monotonic_clock(), numbers.size()).first->second;
  }
  job.monotonic_clocks = numbers.size();
}

// How far the wall clock is ahead of each clock; nothing if no log tells.
std::vector<std::optional<std::int64_t>> wall_offsets(const Job& job) {
  std::vector<std::optional<std::int64_t>> offsets(job.monotonic_clocks);
  for (const ProcessLog& log : job.logs) {
    std::optional<std::int64_t>& known = offsets[log.monotonic_clock];
    if (!known.has_value() && !log.clock.anchors().empty()) {
      const log::Anchor& anchor = log.clock.anchors().front();
      known = difference(anchor.realtime_ns,
                         static_cast<std::uint64_t>(log.clock.monotonic_ns(anchor.tick)));
    }
  }
  return offsets;
}

std::int64_t as_time(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX));
}

std::vector<ClockMeasurement> measurements_of(const Job& job) {
  std::map<std::uint64_t, std::size_t> numbers;  // of clocks by their names
  for (const ProcessLog& log : job.logs) {
    numbers.try_emplace(log.file.clock_name(), log.monotonic_clock);
  }
  std::vector<ClockMeasurement> found;
  for (const ProcessLog& log : job.logs) {
    log.file.for_each_record(log::Stream::definitions,
                             [&](std::uint16_t, const log::ClockSampleView& sample) {
                               const auto peer = numbers.find(sample.r.peer_clock);
                               if (peer != numbers.end()) {
                                 found.push_back({.own = log.monotonic_clock,
                                                  .peer = peer->second,
                                                  .own_ns = as_time(sample.r.own_ns),
                                                  .peer_ns = as_time(sample.r.peer_ns),
                                                  .round_trip_ns = as_time(sample.r.round_trip_ns),
                                                  .round_trips = sample.round_trips()});
                               }
                             });
  }
  return found;
}

// All clocks follow that of the first rank. Clocks without measurements are placed on it by the
// wall clocks of both hosts, with the accuracy of the site's time service.
class JobClock {
 public:
  explicit JobClock(Job& job) : job_(job), wall_(wall_offsets(job)) {
    for (const ProcessLog& log : job.logs) {
      if (wall_[log.monotonic_clock].has_value()) {
        reference_ = log.monotonic_clock;
        break;
      }
    }
    if (job.monotonic_clocks > 1) {
      job.clock_places = place_clocks(job.monotonic_clocks, reference_, measurements_of(job));
    } else {
      job.clock_places.assign(1, PlacedClock{});
    }
  }

  // The wall clock of the first rank's host at `zero_ns` is the zero of the job's clock.
  void place(std::int64_t zero_ns) {
    job_.reference_zero_ns = zero_ns - wall_[reference_].value_or(0);
    for (ProcessLog& log : job_.logs) {
      log.clock.set_job_line(line_of(log.monotonic_clock, zero_ns));
    }
  }

 private:
  log::JobLine line_of(std::size_t clock, std::int64_t zero_ns) const {
    const std::optional<PlacedClock>& place = job_.clock_places[clock];
    log::JobLine line = place.has_value() ? place->line : log::JobLine{};
    line.offset_ns += wall_[place.has_value() ? reference_ : clock].value_or(0) - zero_ns;
    return line;
  }

  Job& job_;
  std::vector<std::optional<std::int64_t>> wall_;
  std::size_t reference_ = 0;
};

// A process too short for two anchors takes the tick rate of another on its clock.
void share_clock_rates(Job& job) {
  std::map<std::size_t, double> rates;
  for (const ProcessLog& log : job.logs) {
    if (log.clock.rate_known()) {
      rates.try_emplace(log.monotonic_clock, log.clock.ns_per_tick());
    }
  }
  for (ProcessLog& log : job.logs) {
    const auto rate = rates.find(log.monotonic_clock);
    if (!log.clock.rate_known() && rate != rates.end()) {
      log.clock.adopt_rate(rate->second);
    }
  }
}

std::int64_t largest_step(const log::ClockFit& clock) {
  std::int64_t largest = 0;
  const std::vector<log::Anchor>& anchors = clock.anchors();
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    const log::Anchor &before = anchors[i - 1], &after = anchors[i];
    if (before.realtime_ns == 0 || after.realtime_ns == 0) {
      continue;
    }
    const std::int64_t passed = difference(after.monotonic_ns, before.monotonic_ns);
    const std::int64_t step = difference(after.realtime_ns, before.realtime_ns) - passed;
    if (beyond_drift(step, passed) && std::abs(step) > std::abs(largest)) {
      largest = step;
    }
  }
  return largest;
}

// The error of a process's times on the job's clock. If its clock is not placed by measurements,
// only its own deviation is known.
double error_at(const Job& job, ProcessIndex process, std::int64_t at_ns) {
  const PlacedClock* place = place_of(job, process);
  return static_cast<double>(job.logs[process].clock.max_deviation_ns()) +
         (place != nullptr ? place->error_at(at_ns + job.reference_zero_ns) : 0);
}

void find_largest_error(Job& job) {
  for (const ProcessIndex process : job.logs.indexes()) {
    const log::ClockFit& clock = job.logs[process].clock;
    for (const log::Anchor& anchor : clock.anchors()) {
      job.clock_error_ns =
          std::max(job.clock_error_ns, error_at(job, process, clock.job_ns(anchor.tick)));
    }
  }
}

void find_wall_clock_steps(Job& job) {
  std::map<std::string_view, std::int64_t> steps;
  for (const ProcessLog& log : job.logs) {
    const std::int64_t step = largest_step(log.clock);
    std::int64_t& known = steps[log.file.host()];
    known = std::abs(step) > std::abs(known) ? step : known;
  }
  for (const auto& [host, step] : steps) {
    if (step != 0) {
      job.findings.wall_clock_steps.push_back({std::string(host), step});
    }
  }
}

void find_disagreements(Job& job) {
  std::map<std::size_t, const ProcessLog*> first_of_clock;
  for (const ProcessLog& log : job.logs) {
    if (log.clock.anchors().empty() || log.clock.anchors().front().realtime_ns == 0) {
      continue;
    }
    const ProcessLog& first = *first_of_clock.try_emplace(log.monotonic_clock, &log).first->second;
    const log::Anchor &own = log.clock.anchors().front(), &its = first.clock.anchors().front();
    const std::int64_t by = wall_offset(own) - wall_offset(its);
    if (beyond_drift(by, difference(own.realtime_ns, its.realtime_ns))) {
      job.findings.clock_disagreements.push_back({log.file.name(), first.file.name(), by});
    }
  }
}

}  // namespace

void place_on_one_clock(Job& job) {
  tell_clocks_apart(job);
  share_clock_rates(job);
  JobClock clock(job);
  clock.place(0);
  std::int64_t first = INT64_MAX;
  for (const ProcessLog& log : job.logs) {
    if (!log.clock.anchors().empty()) {
      first = std::min(first, log.clock.job_ns(log.clock.anchors().front().tick));
    }
  }
  first = first == INT64_MAX ? 0 : first;
  job.run.epoch_realtime_ns = first < 0 ? 0 : static_cast<std::uint64_t>(first);
  clock.place(first);
  find_largest_error(job);
  find_wall_clock_steps(job);
  find_disagreements(job);
}

const PlacedClock* place_of(const Job& job, ProcessIndex process) {
  const std::size_t clock = job.logs[process].monotonic_clock;
  const bool placed = clock < job.clock_places.size() && job.clock_places[clock].has_value();
  return placed ? &*job.clock_places[clock] : nullptr;
}

std::size_t clock_class(const Job& job, ProcessIndex process) {
  constexpr std::size_t kPlacedOnJobClock = SIZE_MAX;
  return place_of(job, process) != nullptr ? kPlacedOnJobClock : job.logs[process].monotonic_clock;
}

bool are_comparable(const Job& job, ProcessIndex a, ProcessIndex b) {
  return clock_class(job, a) == clock_class(job, b);
}

std::optional<double> clock_error_ns(const Job& job, ProcessIndex a, std::int64_t a_ns,
                                     ProcessIndex b, std::int64_t b_ns) {
  if (!are_comparable(job, a, b)) {
    return std::nullopt;
  }
  const ProcessLog& of_a = job.logs[a];
  const ProcessLog& of_b = job.logs[b];
  return of_a.monotonic_clock == of_b.monotonic_clock
             ? static_cast<double>(of_a.clock.max_deviation_ns() + of_b.clock.max_deviation_ns())
             : error_at(job, a, a_ns) + error_at(job, b, b_ns);
}

std::optional<std::int64_t> clock_margin_ns(const Job& job, ProcessIndex a, std::int64_t a_ns,
                                            ProcessIndex b, std::int64_t b_ns) {
  const std::optional<double> error = clock_error_ns(job, a, a_ns, b, b_ns);
  if (!error) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(
      std::ceil(std::min(*error, static_cast<double>(log::kFarAwayNs))));
}

void find_clock_violations(Job& job) {
  std::map<std::pair<TextId, TextId>, ViolationsOfPair> pairs;
  const std::vector<Process>& processes = job.run.processes;
  for (const Message& message : job.run.messages) {
    // The times of a pair that may be wrong say nothing about clocks.
    if (message.match == Match::ambiguous || message.src_process < 0 || message.dst_process < 0 ||
        message.t_end_ns < 0 || message.t_end_ns >= message.t_start_ns) {
      continue;
    }
    const std::int64_t early = message.t_start_ns - message.t_end_ns;
    const std::optional<double> error =
        clock_error_ns(job, ProcessIndex(message.src_process), message.t_start_ns,
                       ProcessIndex(message.dst_process), message.t_end_ns);
    if (error.has_value() && static_cast<double>(early) <= *error) {
      ++job.findings.early_within_error;
      continue;
    }
    const TextId src = processes[static_cast<std::size_t>(message.src_process)].host;
    const TextId dst = processes[static_cast<std::size_t>(message.dst_process)].host;
    ViolationsOfPair& pair = pairs[{src, dst}];
    pair.src_host = job.run.texts[src];
    pair.dst_host = job.run.texts[dst];
    pair.measured = error.has_value();
    ++pair.messages;
    pair.worst_ns = std::max(pair.worst_ns, early);
  }
  for (const auto& [hosts, pair] : pairs) {
    job.findings.violations.push_back(pair);
  }
  note_clock_violations(job);
}

}  // namespace uctrace::merge
