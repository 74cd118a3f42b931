#include "log-merger/simulate/simulation.hpp"

#include <algorithm>

#include "log-merger/replay/replay.hpp"
#include "log-merger/simulate/changed_times.hpp"
#include "log-merger/simulate/recorded_calls.hpp"
#include "log-merger/simulate/simulation_words.hpp"

namespace uctrace {

namespace {

// From the first begin of a process to the last end of one.
class Whole {
 public:
  void add(std::int64_t begin_ns, std::int64_t end_ns) {
    begin_ns_ = std::min(begin_ns_, begin_ns);
    end_ns_ = std::max(end_ns_, end_ns);
  }
  std::int64_t ns() const { return begin_ns_ < end_ns_ ? end_ns_ - begin_ns_ : 0; }

 private:
  std::int64_t begin_ns_ = INT64_MAX, end_ns_ = INT64_MIN;
};

std::int64_t length_of(const replay::ProcessTimes& times) { return times.end_ns - times.begin_ns; }

std::int64_t whole_of(const replay::Replayed& replayed) {
  Whole whole;
  for (const replay::ProcessTimes& times : replayed.processes) {
    if (times.takes_part) whole.add(times.begin_ns, times.end_ns);
  }
  return whole.ns();
}

bool is_call_site(const Run& run, const std::string& name) {
  return std::any_of(run.call_sites.begin(), run.call_sites.end(), [&](const CallSite& site) {
    return run.texts[site.label] == name || run.texts[site.function] == name;
  });
}

}  // namespace

Hypotheses with_whole_names(const Run& run, const Hypotheses& asked) {
  Hypotheses hypotheses = asked;
  for (Faster& one : hypotheses.faster) {
    const std::string whole = one.asked.substr(0, one.asked.rfind('='));
    if (one.ranks.empty() || !is_call_site(run, whole)) continue;
    one.what = whole;
    one.ranks.clear();
  }
  return hypotheses;
}

Simulation simulate(const RowSource& source, const Hypotheses& asked) {
  const Hypotheses hypotheses = with_whole_names(source.run(), asked);
  const Run& run = source.run();
  const RecordedCalls recorded = recorded_calls(source);
  ChangedTimes changed(source, recorded, hypotheses);
  replay::Times as_they_were;
  const std::size_t processes = run.processes.size();
  const replay::Replayed before =
      replay::replay(recorded.calls, recorded.dependencies, processes, as_they_were);
  const replay::Replayed after =
      replay::replay(recorded.calls, recorded.dependencies, processes, changed);
  Simulation simulation;
  simulation.calls = before.calls;
  simulation.dependencies = before.followed;
  simulation.replay_ns = whole_of(before);
  simulation.predicted_ns = whole_of(after);
  Whole measured;
  for (const RankTime& rank : run.rank_times) {
    measured.add(rank.t_begin_ns, rank.t_end_ns);
    const replay::ProcessTimes& own = before.processes[rank.process];
    const replay::ProcessTimes& predicted = after.processes[rank.process];
    const bool several = recorded.threads.several[rank.process];
    simulation.ranks.push_back({rank.process, rank.t_end_ns - rank.t_begin_ns, length_of(own),
                                length_of(predicted), several ? -1 : own.computing_ns,
                                several ? -1 : predicted.computing_ns});
  }
  simulation.measured_ns = measured.ns();
  simulation.hypotheses = hypotheses_in_words(hypotheses, changed);
  simulation.assumptions = assumptions_of(recorded, hypotheses);
  simulation.not_replayed = not_replayed(source, recorded, before, hypotheses, changed);
  return simulation;
}

}  // namespace uctrace
