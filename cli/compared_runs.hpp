// Two runs of which the folders are named, compared.
#pragma once

#include <string>

#include "cli/data-folder/data_choice.hpp"
#include "log-merger/diff/diff.hpp"
#include "log-merger/diff/diff_output.hpp"

namespace uctrace::cli {

struct Comparison {
  diff::RunMeasures a, b;
  diff::Diff diff;
  std::string name_a, name_b;

  diff::ComparedRuns runs() const { return {a, b, name_a, name_b}; }
};

// Reads one run after the other: no more than one is open at a time. Throws Error for a folder
// without a run.
Comparison compare_runs(const DataChoice& a, const DataChoice& b);

}  // namespace uctrace::cli
