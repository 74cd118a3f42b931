// The measures of a run for comparing it with another one.
#pragma once

#include "cli/data-folder/data_choice.hpp"
#include "log-merger/diff/run_measures.hpp"

namespace uctrace::cli {

// Reads the run and closes it again. Throws Error for a folder without one.
diff::RunMeasures measured_run(const DataChoice& data);

}  // namespace uctrace::cli
