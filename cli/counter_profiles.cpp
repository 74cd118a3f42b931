#include "cli/counter_profiles.hpp"

#include <algorithm>

#include "cli/chosen_job.hpp"
#include "cli/data-folder/default_folder.hpp"
#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
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

void warn_of_lost_counters(const std::filesystem::path& folder) {
  live::LiveFolder jobs(folder, {});
  jobs.read();
  if (!jobs.jobs().empty()) warn_of_missing_ranks(jobs.jobs().front()->now);
}

bool any_counts(const std::vector<log::CounterSnapshot>& job) {
  return std::any_of(job.begin(), job.end(), counts);
}

}  // namespace uctrace::cli
