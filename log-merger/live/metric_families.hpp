// The counters of a job as metrics: their names, labels and meanings (docs/serve.md).
#pragma once

#include <string>
#include <vector>

#include "log-merger/live/job_counters.hpp"
#include "log-merger/live/metric_text.hpp"

namespace uctrace::live {

// Of no job yet: how many files cannot be read, and nothing else.
std::vector<MetricFamily> metric_families(const JobCounters& counters);

// Which uctrace answers.
MetricFamily build_info_family(const std::string& version);

}  // namespace uctrace::live
