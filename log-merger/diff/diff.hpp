// Two runs compared: which settings differ, and what changed between them, the greatest change
// first. docs/diff.md says how a change is told from noise.
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

// A difference below this part of the whole is small, whatever it is.
inline constexpr double kSmallShare = 0.01;

enum class DiffUnit : std::uint8_t { bytes, nanoseconds, count, percent };
const char* name_of(DiffUnit);

// A number of both runs. Between runs with different numbers of ranks bytes and counts are percent
// of all of their run, times and calls are those of a rank.
struct Change {
  Subject subject;
  DiffUnit unit = DiffUnit::count;
  double a = 0, b = 0;
  double share = 0;  // of the whole that |b - a| is, 0 to 1
  ChangeVerdict verdict = ChangeVerdict::change;
  // Of times: of one call, wait or message, at half of those that are alike, and between a quarter
  // and three quarters of them.
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
  std::vector<Change> changes;  // of the verdict `change`, the greatest share first
  std::vector<Change> others;   // the rest of what differs, in the same order
  std::size_t equal = 0;        // numbers that are the same in both
  std::vector<std::string> notes;
};

Diff compare(const RunMeasures& a, const RunMeasures& b);

}  // namespace uctrace::diff
