// Compares two runs: which settings differ, and what changed, largest change first. docs/diff.md
// says how a change is distinguished from noise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log-merger/diff/run_measures.hpp"

namespace uctrace::diff {

enum class ChangeVerdict : std::uint8_t {
  change,    // more than the spread within the runs explains
  noise,     // the spread within the runs explains it
  small,     // less than kSmallShare of the whole
  not_told,  // too few repetitions to know the spread
};
const char* name_of(ChangeVerdict);

// Any difference below this part of the whole is small.
inline constexpr double kSmallShare = 0.01;

enum class DiffUnit : std::uint8_t { bytes, nanoseconds, count, percent };
const char* name_of(DiffUnit);

// A number of both runs. If the runs have different numbers of ranks, bytes and counts are
// percentages of their run, and times and calls are per rank.
struct Change {
  Subject subject;
  DiffUnit unit = DiffUnit::count;
  double a = 0, b = 0;
  double share = 0;  // |b - a| as a part of the whole, 0 to 1
  ChangeVerdict verdict = ChangeVerdict::change;
  // For times: the median of one call, wait or message among those that are alike, and its
  // quartiles.
  struct Each {
    double low_ns = 0, middle_ns = 0, high_ns = 0;
  };
  std::optional<Each> each_a = {}, each_b = {};
};

struct SettingDifference {
  std::string name;
  std::optional<std::string> a, b;
  std::string ranks;  // empty: of the whole run
};

struct Diff {
  bool same_ranks = true;
  std::vector<SettingDifference> settings;
  std::vector<Change> changes;  // with the verdict `change`, largest share first
  std::vector<Change> others;   // other differences, in the same order
  std::size_t equal = 0;        // numbers that are the same in both
  std::vector<std::string> notes;
};

Diff compare(const RunMeasures& a, const RunMeasures& b);

}  // namespace uctrace::diff
