#include "cli/counter_profiles.hpp"

#include <algorithm>
#include <iostream>

#include "cli/data-folder/default_folder.hpp"
#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/live/live_job.hpp"
#include "log-merger/live/newest_job.hpp"

namespace uctrace::cli {
namespace {

bool counts(const log::CounterSnapshot& process) {
  return live::may_count(live::state_of(process, live::realtime_ns()));
}

}  // namespace

std::vector<log::CounterSnapshot> read_counter_folder(const std::filesystem::path& folder) {
  require_choice(folder);
  const log::CounterFolder found = log::open_counters(folder);
  for (const std::string& line : found.unread) std::cerr << "uctrace: warning: " << line << '\n';
  std::vector<log::CounterSnapshot> all;
  for (const log::CounterFile& file : found.files) {
    try {
      all.push_back(file.read());
    } catch (const log::FileError& error) {
      std::cerr << "uctrace: warning: " << error.message() << '\n';
    }
  }
  if (all.empty()) live::refuse_without_counters(folder);
  const std::string job = live::newest_job(all);
  std::erase_if(all, [&](const log::CounterSnapshot& process) { return process.job() != job; });
  std::stable_sort(all.begin(), all.end(),
                   [](const log::CounterSnapshot& a, const log::CounterSnapshot& b) {
                     return a.rank() < b.rank();
                   });
  return all;
}

bool any_counts(const std::vector<log::CounterSnapshot>& job) {
  return std::any_of(job.begin(), job.end(), counts);
}

}  // namespace uctrace::cli
