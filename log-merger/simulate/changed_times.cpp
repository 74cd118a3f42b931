#include "log-merger/simulate/changed_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/names.hpp"

namespace uctrace {

namespace {

constexpr const char* kComputing = "compute";

// Several factors may apply: times are limited.
std::int64_t divided(std::int64_t ns, double factor) {
  constexpr double kFarthestNs = 1e18;
  return std::llround(std::min(kFarthestNs, static_cast<double>(ns) / factor));
}

std::set<std::int32_t> processes_named(const Run& run, const std::vector<std::string>& ranks,
                                       const char* option) {
  return choose(ranks, option, processes_by_rank(run)).value_or(std::set<std::int32_t>());
}

using Thread = std::pair<std::uint32_t, std::uint16_t>;  // process and lane

// Sums up how long each thread computes in each phase.
class Summing final : public replay::Times {
 public:
  using Measure = std::function<std::pair<std::size_t, std::int64_t>(const replay::Computing&)>;
  explicit Summing(Measure measure) : measure_(std::move(measure)) {}
  std::int64_t computing_ns(const replay::Computing& computing) override {
    const auto [phase, ns] = measure_(computing);
    auto& of_thread = sums_[{computing.process, computing.lane}];
    if (phase >= of_thread.size()) of_thread.resize(phase + 1, 0);
    of_thread[phase] += static_cast<double>(ns);
    return ns;
  }
  const std::map<Thread, std::vector<double>>& sums() const { return sums_; }

 private:
  std::map<Thread, std::vector<double>> sums_;
  Measure measure_;
};

// By process and phase: the mean over threads that compute there.
std::vector<std::vector<double>> means_of_threads(
    const std::map<Thread, std::vector<double>>& of_threads, std::size_t processes) {
  std::vector<std::vector<double>> sums(processes), counts(processes);
  for (const auto& [thread, of_thread] : of_threads) {
    auto& sum = sums[thread.first];
    auto& count = counts[thread.first];
    if (of_thread.size() > sum.size()) {
      sum.resize(of_thread.size(), 0);
      count.resize(of_thread.size(), 0);
    }
    for (std::size_t i = 0; i < of_thread.size(); ++i) {
      sum[i] += of_thread[i];
      if (of_thread[i] > 0) ++count[i];
    }
  }
  for (std::size_t process = 0; process < processes; ++process) {
    for (std::size_t i = 0; i < sums[process].size(); ++i) {
      if (counts[process][i] > 0) sums[process][i] /= counts[process][i];
    }
  }
  return sums;
}

// By phase: the mean over ranks that compute there.
std::vector<double> means_of(const std::vector<std::vector<double>>& sums, std::size_t phases) {
  std::vector<double> means(phases, 0), counts(phases, 0);
  for (const auto& of_process : sums) {
    for (std::size_t i = 0; i < of_process.size(); ++i) {
      if (of_process[i] <= 0) continue;
      means[i] += of_process[i];
      ++counts[i];
    }
  }
  for (std::size_t i = 0; i < phases; ++i) {
    if (counts[i] > 0) means[i] /= counts[i];
  }
  return means;
}

}  // namespace

ChangedTimes::ChangedTimes(const RowSource& source, const RecordedCalls& recorded,
                           const Hypotheses& hypotheses)
    : recorded_(recorded) {
  for (const Faster& one : hypotheses.faster) faster_.push_back(chosen(source, one));
  for (const Chosen& one : faster_) {
    std::uint64_t calls = 0;
    for (std::size_t i = 0; i < recorded.calls.size(); ++i) {
      calls += chooses(one, static_cast<std::int32_t>(i), one.computing) ? 1 : 0;
    }
    calls_of_faster_.push_back(calls);
  }
  if (hypotheses.even_partitions != EvenPartitions::no) {
    partitions_ = evened_partitions(source, hypotheses.even_partitions);
  }
  network_ = changed_network(source, recorded, hypotheses.network);
  if (hypotheses.balance != Balance::none) balance(source, hypotheses);
}

ChangedTimes::Chosen ChangedTimes::chosen(const RowSource& source, const Faster& faster) const {
  const Run& run = source.run();
  Chosen one;
  one.factor = faster.factor;
  one.processes.assign(run.processes.size(), faster.ranks.empty());
  for (const std::int32_t process : processes_named(run, faster.ranks, "faster")) {
    one.processes[static_cast<std::size_t>(process)] = true;
  }
  one.computing = faster.what == kComputing;
  if (one.computing) return one;
  std::set<std::string> known = {kComputing};
  one.functions.assign(run.texts.all().size(), false);
  bool found = false;
  for (const TextId function :
       std::set<TextId>(recorded_.functions.begin(), recorded_.functions.end())) {
    known.insert(run.texts[function]);
    if (run.texts[function] == faster.what) one.functions[function] = found = true;
  }
  if (found) {
    refuse_ends_of_mpi(faster, one);
    return one;
  }
  one.functions.clear();
  one.computing = true;
  one.call_sites.assign(run.call_sites.size(), false);
  for (std::size_t i = 0; i < run.call_sites.size(); ++i) {
    const CallSite& site = run.call_sites[i];
    known.insert(run.texts[site.label]);
    if (run.texts[site.label] != faster.what && run.texts[site.function] != faster.what) continue;
    one.call_sites[i] = found = true;
  }
  if (!found) refuse_value(faster.what, "faster", known);
  return one;
}

// They are not part of the predicted time.
void ChangedTimes::refuse_ends_of_mpi(const Faster& faster, const Chosen& one) const {
  for (std::size_t i = 0; i < recorded_.calls.size(); ++i) {
    if (!one.functions[recorded_.functions[i]]) continue;
    if (recorded_.calls[i].part == replay::Part::of_run) return;
    throw Error({.what = "cannot simulate a faster " + faster.what,
                 .why = "a run is taken from the end of MPI_Init to the start of MPI_Finalize",
                 .to_do = "name another function"});
  }
}

bool ChangedTimes::chooses(const Chosen& one, std::int32_t call, bool computing) const {
  const auto place = static_cast<std::size_t>(call);
  if (one.computing != computing || !one.processes[recorded_.calls[place].process]) return false;
  if (!computing) return one.functions[recorded_.functions[place]];
  const std::int32_t site = recorded_.call_sites[place];
  return one.call_sites.empty() || (site >= 0 && one.call_sites[static_cast<std::size_t>(site)]);
}

std::int64_t ChangedTimes::unbalanced_ns(const replay::Computing& computing) const {
  std::int64_t ns = computing.to_ns - computing.from_ns;
  if (const auto spans = partitions_.spans.find({computing.process, computing.lane});
      spans != partitions_.spans.end()) {
    ns = evened_ns(spans->second, computing.from_ns, computing.to_ns);
  }
  for (const Chosen& one : faster_) {
    if (chooses(one, computing.next, true)) ns = divided(ns, one.factor);
  }
  return ns;
}

std::size_t ChangedTimes::phase_of(const replay::Computing& computing) const {
  if (phase_ends_ns_.empty()) return 0;
  const auto& ends = phase_ends_ns_[computing.process];
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), computing.from_ns) -
                                  ends.begin());
}

void ChangedTimes::balance(const RowSource& source, const Hypotheses& hypotheses) {
  const std::size_t processes = source.run().processes.size();
  if (hypotheses.balance == Balance::phases) {
    phase_ends_ns_ = synchronisations(recorded_, processes);
  }
  Summing summing([this](const replay::Computing& computing) {
    return std::pair(phase_of(computing), unbalanced_ns(computing));
  });
  // Only serial calls need their function and place.
  replay::replay(
      recorded_.calls,
      recorded_.threads.calls > 0 ? recorded_.dependencies : std::vector<replay::Dependency>{},
      processes, summing);
  const std::vector<std::vector<double>> computed = means_of_threads(summing.sums(), processes);
  for (const auto& of_process : computed) phases_ = std::max(phases_, of_process.size());
  const std::vector<double> means = means_of(computed, phases_);
  const std::set<std::int32_t> named =
      processes_named(source.run(), hypotheses.balanced_ranks, "balance");
  balance_.resize(processes);
  for (std::size_t process = 0; process < processes; ++process) {
    const auto& sums = computed[process];
    const bool is_meant =
        hypotheses.balance != Balance::ranks || named.contains(static_cast<std::int32_t>(process));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      balance_[process].push_back(is_meant && sums[i] > 0 ? means[i] / sums[i] : 1);
    }
  }
}

std::int64_t ChangedTimes::computing_ns(const replay::Computing& computing) {
  const std::int64_t ns = unbalanced_ns(computing);
  if (balance_.empty()) return ns;
  return std::llround(static_cast<double>(ns) * balance_[computing.process][phase_of(computing)]);
}

std::int64_t ChangedTimes::in_call_ns(std::int32_t call, std::int64_t ns) {
  for (const Chosen& one : faster_) {
    if (chooses(one, call, false)) ns = divided(ns, one.factor);
  }
  return ns;
}

std::optional<replay::Times::Way> ChangedTimes::way_of(std::int32_t message) {
  const auto place = static_cast<std::size_t>(message);
  if (place >= network_.ways.size() || network_.ways[place].ns < 0) return std::nullopt;
  return network_.ways[place];
}

}  // namespace uctrace
