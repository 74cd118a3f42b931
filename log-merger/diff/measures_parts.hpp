// The parts that run_measures.cpp puts together. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "log-merger/diff/run_measures.hpp"

namespace uctrace::diff {

// With more pairs that exchanged something, pairs are not compared one by one.
inline constexpr std::size_t kMostPairs = 65'536;
bool has_many_pairs(const RowSource& source);

// Settings of the run that its store tells.
std::vector<RunSetting> run_settings(const Run& run);

// MPI calls, work between them, and waits.
void add_calls(const RowSource& source, RunMeasures& measures);
void add_waits(const RowSource& source, RunMeasures& measures);
// Messages, by what carried them and how long they took.
void add_traffic(const RowSource& source, RunMeasures& measures);
void add_message_times(const RowSource& source, RunMeasures& measures);

// Adds a count, or bytes, to a subject and to its whole.
inline void add_count(RunMeasures& measures, Subject subject, Whole whole, std::uint64_t value) {
  Measured& measured = measures.subjects[std::move(subject)];
  measured.whole = whole;
  measured.value += static_cast<double>(value);
}

inline void add_time(RunMeasures& measures, Subject subject, Whole whole, const Band& band) {
  Measured& measured = measures.subjects[std::move(subject)];
  measured.whole = whole;
  measured.band.add(band);
  measured.value = measured.band.value_ns;
}

inline double& whole_of(RunMeasures& measures, Whole whole) {
  return measures.wholes[static_cast<std::size_t>(whole)];
}

}  // namespace uctrace::diff
