// The one clock that the logs of a job are placed on, and where their clocks contradict each other.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "log-merger/job.hpp"

namespace uctrace::merge {

namespace {

// A wall clock that is disciplined by a time service runs up to 500 ppm off the raw monotonic one;
// what goes beyond that and this much was set.
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

using ClockOffsets = std::map<std::size_t, std::int64_t>;

// CLOCK_MONOTONIC_RAW as far as it is the same; such clocks are set against each other by the wall
// clocks beside them, which is as good as the site's time service.
ClockOffsets clock_offsets(const Job& job) {
  ClockOffsets offsets;
  for (const ProcessLog& log : job.logs) {
    if (!log.clock.anchors().empty()) {
      const log::Anchor& anchor = log.clock.anchors().front();
      offsets.try_emplace(log.monotonic_clock,
                          difference(anchor.realtime_ns, static_cast<std::uint64_t>(
                                                             log.clock.monotonic_ns(anchor.tick))));
    }
  }
  return offsets;
}

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
  ClockOffsets offsets = clock_offsets(job);
  std::int64_t first = INT64_MAX;
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(offsets[log.monotonic_clock]);
    if (!log.clock.anchors().empty()) {
      first = std::min(first, log.clock.job_ns(log.clock.anchors().front().tick));
    }
    job.clock_error_ns =
        std::max(job.clock_error_ns, static_cast<double>(log.clock.max_deviation_ns()));
  }
  first = first == INT64_MAX ? 0 : first;
  job.run.epoch_realtime_ns = first < 0 ? 0 : static_cast<std::uint64_t>(first);
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(offsets[log.monotonic_clock] - first);
  }
  find_wall_clock_steps(job);
  find_disagreements(job);
}

void find_clock_violations(Job& job) {
  std::map<std::pair<TextId, TextId>, ViolationsOfPair> pairs;
  const std::vector<Process>& processes = job.run.processes;
  for (const Message& message : job.run.messages) {
    if (message.src_process < 0 || message.dst_process < 0 || message.t_end_ns < 0 ||
        message.t_end_ns >= message.t_start_ns) {
      continue;
    }
    const TextId src = processes[static_cast<std::size_t>(message.src_process)].host;
    const TextId dst = processes[static_cast<std::size_t>(message.dst_process)].host;
    ViolationsOfPair& pair = pairs[{src, dst}];
    pair.src_host = job.run.texts[src];
    pair.dst_host = job.run.texts[dst];
    ++pair.messages;
    pair.worst_ns = std::max(pair.worst_ns, message.t_start_ns - message.t_end_ns);
  }
  for (const auto& [hosts, pair] : pairs) {
    job.findings.violations.push_back(pair);
  }
  note_clock_violations(job);
}

}  // namespace uctrace::merge
