// The counters of a data folder, for the verbs that read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data-folder/job_log.hpp"
#include "event-log/reader/counter_file.hpp"

namespace uctrace::cli {

// Of this job of the folder, the newest where it is empty, in the order of ranks. Throws Error
// where there are none; what cannot be read is told on standard error.
std::vector<log::CounterSnapshot> read_counter_folder(const std::filesystem::path& folder,
                                                      const std::string& job = {});

// The counter files beside the logs of a recording. A file that its process could not begin holds
// none.
struct CounterFiles {
  std::size_t processes = 0;
  std::uint64_t bytes = 0;
};
CounterFiles counter_files_of(const JobLog& recording);

// On standard error, of each job of this recording: ranks without counters, and what rows of
// counters do not tell (chosen_job.hpp).
void warn_of_lost_counters(const std::filesystem::path& folder, const std::string& recording);

// One of its processes still runs, as far as can be seen from here.
bool any_counts(const std::vector<log::CounterSnapshot>& job);

}  // namespace uctrace::cli
