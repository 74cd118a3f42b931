// The counters of jobs as metrics: their names, labels and meanings (docs/serve.md).
#pragma once

#include <string>
#include <vector>

#include "log-merger/live/job_counters.hpp"
#include "log-merger/live/metric_text.hpp"

namespace uctrace::live {

// For each job separately, in the order of the list.
std::vector<MetricFamily> metric_families(const std::vector<const JobCounters*>& jobs);

// How many counter files of the folder cannot be read.
MetricFamily unread_files_family(std::size_t files);

// The version of this uctrace.
MetricFamily build_info_family(const std::string& version);

}  // namespace uctrace::live
