#include "log-merger/diff/run_measures.hpp"

#include <algorithm>
#include <set>

#include "log-merger/diff/measures_parts.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace::diff {
namespace {

// The length of the run has no spread of its own: that of its ranks' calls and work stands for it.
void add_duration(const RunFacts& facts, RunMeasures& measures) {
  Measured run;
  run.whole = Whole::time;
  const auto threads = static_cast<double>(std::max<std::size_t>(1, measures.ranks));
  for (const char* measure : {"time in MPI", "time outside MPI"}) {
    const auto found = measures.subjects.find({"all ranks", "", measure});
    if (found != measures.subjects.end()) run.band.add(found->second.band);
  }
  // For all ranks: shares are taken of their total time.
  run.value = static_cast<double>(facts.duration_ns) * threads;
  run.band.value_ns = run.value;
  measures.subjects[{"run", "", "length, times ranks"}] = run;
  whole_of(measures, Whole::time) = std::max(whole_of(measures, Whole::time), run.value);
}

std::vector<std::string> doubts_of(const Run& run, const RunFacts& facts) {
  std::vector<std::string> doubts;
  if (!facts.complete) doubts.push_back("not all of it was recorded; `uctrace info` says what");
  const std::string window = recording_sentence(run);
  if (!window.empty()) doubts.push_back(window);
  if (count_identities(run).violated != 0) {
    doubts.push_back("an identity is violated; `uctrace info` says which");
  }
  return doubts;
}

}  // namespace

RunMeasures measures_of(const RowSource& source) {
  const Run& run = source.run();
  const RunFacts facts = facts_of(run);
  RunMeasures measures;
  measures.run_id = run.run_id;
  measures.command = facts.command;
  measures.hosts = facts.hosts;
  const auto is_rank = [](const Process& process) { return process.rank >= 0; };
  measures.ranks =
      static_cast<std::size_t>(std::count_if(run.processes.begin(), run.processes.end(), is_rank));
  if (measures.ranks == 0) measures.ranks = run.processes.size();
  measures.has_pairs = !has_many_pairs(source);
  measures.settings = run_settings(run);
  measures.doubts = doubts_of(run, facts);
  add_calls(source, measures);
  add_waits(source, measures);
  add_traffic(source, measures);
  add_message_times(source, measures);
  // Messages overlap: their times are compared with those of the ranks.
  add_duration(facts, measures);
  whole_of(measures, Whole::message_time) =
      std::max(whole_of(measures, Whole::message_time), whole_of(measures, Whole::time));
  return measures;
}

}  // namespace uctrace::diff
