#include "cli/counter_profiles.hpp"

#include <algorithm>
#include <iostream>

#include "cli/data-folder/default_folder.hpp"
#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/live/live_job.hpp"

namespace uctrace::cli {
namespace {

// A folder may be shared with an older job.
std::vector<log::CounterSnapshot> newest(std::vector<log::CounterSnapshot> all) {
  const auto last = std::max_element(
      all.begin(), all.end(), [](const log::CounterSnapshot& a, const log::CounterSnapshot& b) {
        return a.page.started_realtime_ns < b.page.started_realtime_ns;
      });
  if (last == all.end()) return all;
  const std::string job = last->job();
  std::erase_if(all, [&](const log::CounterSnapshot& process) { return process.job() != job; });
  return all;
}

bool counts(const log::CounterSnapshot& process) {
  return live::state_of(process, live::realtime_ns()) == live::ProcessState::counting;
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
  all = newest(std::move(all));
  if (all.empty()) {
    throw Error({.what = "no counters in " + folder.string(),
                 .why = "it has no counter files",
                 .to_do = "record with --counters, or name another folder"});
  }
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
