#include "log-merger/connections/estimates.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "log-merger/job/rows_by_handle.hpp"
#include "log-merger/model/reach.hpp"

namespace uctrace::merge {

namespace {

// As UCX compares words of settings: without case.
bool is_word(const std::string& text, const char* word) {
  return strcasecmp(text.c_str(), word) == 0;
}

// The numbers that users set, by process; they replace those that programs tell. 0 = not known.
class NumbersSet {
 public:
  NumbersSet(const Run& run, std::string_view variable) : of_(run.processes.size()) {
    for (const Setting& setting : run.settings) {
      if (!is_setting(setting.from) || run.texts[setting.name] != variable) continue;
      const std::string& value = run.texts[setting.value];
      if (is_word(value, "auto")) continue;
      // UCX keeps the number in 32 bits. What it does not read here is 0: not known.
      std::uint64_t number = is_word(value, "inf") ? UINT32_MAX : 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      for (std::uint32_t i = 0; i < setting.processes; ++i) {
        std::optional<std::uint64_t>& of = of_.at(setting.first_process + i);
        if (!of) of = number;  // the environment comes before files
      }
    }
  }

  std::uint64_t or_told(std::size_t process, std::uint64_t told) const {
    return of_[process].value_or(told);
  }

 private:
  std::vector<std::optional<std::uint64_t>> of_;
};

std::uint64_t rounded(double number) {
  constexpr double kMost = 9e18;
  return static_cast<std::uint64_t>(std::llround(std::min(number, kMost)));
}

// How many endpoints, by reach, picoseconds of latency and bytes a second.
using Counts = std::map<std::tuple<Reach, std::uint64_t, std::uint64_t>, std::uint64_t>;

class Estimates {
 public:
  explicit Estimates(const Job& job)
      : job_(job), endpoints_(job.run, "UCX_NUM_EPS"), processes_(job.run, "UCX_NUM_PPN") {}

  Counts of(ProcessIndex process, const UcpEndpoints& made) const {
    const ProcessLog& log = job_.logs[process];
    std::map<const UcpEndpoint*, Expected> fastest;
    for (const Endpoint& lane : log.endpoints) {
      const Interface* interface = log.interface(lane.interface);
      if (interface == nullptr || !interface->of_ucp) continue;
      const UcpEndpoint* with = made.made_at(interface->worker, lane.tick);
      if (with == nullptr) continue;
      const auto expected = expected_of(interface->speed, size_for(process, *interface));
      if (!expected) continue;
      Expected& best = fastest[with];
      if (expected->bandwidth > best.bandwidth) best = *expected;
    }
    Counts counts;
    for (const auto& [endpoint, expected] : fastest) {
      constexpr double kPicosecond = 1e12;
      const Reach reach = reach_of(job_.run, process.number(), endpoint->peer.process.number());
      ++counts[{reach, rounded(expected.latency_s * kPicosecond), rounded(expected.bandwidth)}];
    }
    return counts;
  }

 private:
  JobSize size_for(ProcessIndex process, const Interface& interface) const {
    const Rows<Worker>& workers = job_.logs[process].workers;
    const auto row = row_at(workers, interface.worker, interface.worker_tick);
    if (row == kNone) return {};
    const auto at = static_cast<std::size_t>(process.number());
    return {endpoints_.or_told(at, workers[row].estimated_endpoints),
            processes_.or_told(at, workers[row].estimated_processes_of_node)};
  }

  const Job& job_;
  NumbersSet endpoints_, processes_;
};

}  // namespace

std::optional<Expected> expected_of(const log::InterfaceSpeed& speed, const JobSize& job) {
  if (job.endpoints == 0 || job.processes_of_node == 0) return std::nullopt;
  const Expected expected{
      speed.latency_s + speed.latency_per_endpoint_s * static_cast<double>(job.endpoints),
      speed.own_bandwidth + speed.shared_bandwidth / static_cast<double>(job.processes_of_node)};
  // A log of others than ours may hold anything.
  const bool makes_sense = std::isfinite(expected.latency_s) && expected.latency_s >= 0 &&
                           std::isfinite(expected.bandwidth) && expected.bandwidth >= 1;
  return makes_sense ? std::optional(expected) : std::nullopt;
}

void add_estimates(Job& job, const std::vector<UcpEndpoints>& of_process) {
  const Estimates estimates(job);
  std::vector<Counts> counts(of_process.size());
  job.workers.each(counts.size(), [&](std::size_t i) {
    counts[i] = estimates.of(ProcessIndex(static_cast<std::int32_t>(i)), of_process[i]);
  });
  Counts all;
  for (const Counts& own : counts) {
    for (const auto& [what, endpoints] : own) all[what] += endpoints;
  }
  for (const auto& [what, endpoints] : all) {
    const auto& [reach, latency_ps, per_second_bytes] = what;
    job.run.estimates.push_back({reach, latency_ps, per_second_bytes, endpoints});
  }
}

}  // namespace uctrace::merge
