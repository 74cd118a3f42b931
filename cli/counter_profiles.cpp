#include "cli/counter_profiles.hpp"

#include <algorithm>
#include <iostream>

#include "cli/chosen_job.hpp"
#include "cli/data-folder/default_folder.hpp"
#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/live/live_folder.hpp"

namespace uctrace::cli {
namespace {

bool counts(const log::CounterSnapshot& process) {
  return live::may_count(live::state_of(process, live::realtime_ns()));
}

}  // namespace

std::vector<log::CounterSnapshot> read_counter_folder(const std::filesystem::path& folder,
                                                      const std::string& job) {
  require_choice(folder);
  live::LiveFolder jobs(folder, {.job = job});
  jobs.read();
  std::vector<log::CounterSnapshot> chosen = chosen_job(jobs, folder, job).now;
  warn_of_unread(jobs);
  return chosen;
}

CounterFiles counter_files_of(const JobLog& recording) {
  CounterFiles found;
  for (const ProcessReport& process : recording.processes) {
    const std::filesystem::path path = log::counters_beside(process.log);
    try {
      const log::CounterFile file(path);
      found.bytes += std::filesystem::file_size(path);
      ++found.processes;
    } catch (const std::exception&) {
      // Its process has none.
    }
  }
  return found;
}

void warn_of_lost_counters(const std::filesystem::path& folder, const std::string& recording) {
  try {
    live::LiveFolder jobs(folder, {});
    jobs.read();
    for (const live::Reading* job : jobs.jobs()) {
      if (merge::is_job_of(job->job(), recording)) {
        warn_of_missing_ranks(job->now);
        warn_of_unnamed(job->now);
      }
    }
  } catch (const Error& error) {
    std::cerr << "uctrace: warning: " << error.message() << '\n';
  }
}

bool any_counts(const std::vector<log::CounterSnapshot>& job) {
  return std::any_of(job.begin(), job.end(), counts);
}

}  // namespace uctrace::cli
