// The counters of a data folder, for the verbs that read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data-folder/job_log.hpp"
#include "event-log/reader/counter_file.hpp"

namespace uctrace::cli {

// The counters of this job of the folder, of the newest if it is empty, in the order of ranks.
// Throws Error if there are none; unreadable files are reported on standard error.
std::vector<log::CounterSnapshot> read_counter_folder(const std::filesystem::path& folder,
                                                      const std::string& job = {});

// The counter files beside the logs of a recording. A file that its process could not begin has
// none.
struct CounterFiles {
  std::size_t processes = 0;
  std::uint64_t bytes = 0;
};
CounterFiles counter_files_of(const JobLog& recording);

// Reports, for each job of this recording, ranks without counters and incomplete rows
// (chosen_job.hpp) on standard error.
void warn_of_lost_counters(const std::filesystem::path& folder, const std::string& recording);

// Whether one of its processes still runs, as far as can be seen from here.
bool any_counts(const std::vector<log::CounterSnapshot>& job);

}  // namespace uctrace::cli
