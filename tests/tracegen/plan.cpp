// How many steps a job has: as many as give about the requested number of events.
#include <algorithm>

#include "tests/tracegen/clock_traffic.hpp"
#include "tests/tracegen/process_run.hpp"

namespace uctrace::tracegen {
namespace {

struct Sample {
  std::uint64_t events = 0, messages = 0;
};

// What one rank does in so many steps. Nothing is written.
Sample sample(const Shape& shape, std::int32_t rank, const Plan& plan) {
  ProcessTruth truth(shape, rank, false);
  ProcessLog log(shape, rank, {}, truth);
  ProcessRun(log, plan).run();
  Sample found{log.tally().events, 0};
  for (const std::uint64_t messages : truth.totals().messages) found.messages += messages;
  return found;
}

// Of a few ranks, which have more and fewer neighbours.
Sample mean_sample(const Shape& shape, const Plan& plan) {
  const std::int32_t ranks[] = {0, shape.size() / 3, shape.size() / 2, shape.size() - 1};
  Sample sum;
  for (const std::int32_t rank : ranks) {
    const Sample of = sample(shape, rank, plan);
    sum.events += of.events;
    sum.messages += of.messages;
  }
  return {sum.events / std::size(ranks), sum.messages / std::size(ranks)};
}

}  // namespace

std::int64_t first_step_ns(const Shape& shape) {
  return when::clocks(shape) + measuring_ns(shape) + 500'000 + making_partitioned_ns(shape);
}

std::pair<std::uint64_t, std::uint64_t> dropped_steps(const Shape& shape, const Plan& plan,
                                                      std::int32_t rank) {
  const Fault* fault = shape.options().fault_of(rank, Fault::Kind::dropped);
  const std::uint64_t first = plan.steps / 2;
  return {first, first + (fault != nullptr ? fault->amount : 0)};
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> recorded_steps(const Shape& shape,
                                                                    std::int32_t rank) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;
  for (const RecordedSteps& window : shape.options().windows) {
    const std::uint64_t lag = rank % 2 == 0 ? 0 : window.lag;
    // What is recorded from the start is so in all processes.
    steps.emplace_back(window.from == 0 ? 0 : window.from + lag, window.to + lag);
  }
  return steps;
}

bool is_recorded(const Shape& shape, std::int32_t rank, std::uint64_t step) {
  const auto steps = recorded_steps(shape, rank);
  return steps.empty() || std::any_of(steps.begin(), steps.end(), [&](const auto& window) {
           return window.first <= step && step < window.second;
         });
}

Plan make_plan(const Shape& job) {
  // Steps that are not recorded count as well, so that windows do not change the job.
  Options all = job.options();
  all.windows.clear();
  const Shape shape(all);
  constexpr std::uint64_t kMostTried = 1000;
  Plan plan{.steps = 0, .begin_ns = first_step_ns(shape)};
  const std::uint64_t wanted =
      shape.options().events / static_cast<std::uint64_t>(shape.size());  // of a process
  const std::uint64_t always = mean_sample(shape, plan).events;
  if (wanted <= always) return plan;
  // Simulated up to a limit; beyond it, extrapolated.
  Sample found;
  std::uint64_t tried = 1;
  for (;; tried += tried / 4 + 1) {
    plan.steps = tried;
    found = mean_sample(shape, plan);
    if (found.events >= wanted || tried >= kMostTried) break;
  }
  const std::uint64_t of_steps = std::max<std::uint64_t>(found.events - always, 1);
  plan.steps = std::max<std::uint64_t>(1, (wanted - always) * tried / of_steps);
  plan.messages = found.messages * plan.steps / tried * static_cast<std::uint64_t>(shape.size());
  return plan;
}

}  // namespace uctrace::tracegen
