#include "cli/counter_profiles.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

#include "cli/data-folder/default_folder.hpp"
#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/liveness.hpp"

namespace uctrace::cli {
namespace {

std::string text_of(const char* text, std::size_t size) { return {text, strnlen(text, size)}; }

std::string job_of(const log::CounterSnapshot& process) {
  return text_of(process.page.job, sizeof process.page.job);
}

// A folder may be shared with an older job.
std::vector<log::CounterSnapshot> newest(std::vector<log::CounterSnapshot> all) {
  const auto last = std::max_element(
      all.begin(), all.end(), [](const log::CounterSnapshot& a, const log::CounterSnapshot& b) {
        return a.page.started_realtime_ns < b.page.started_realtime_ns;
      });
  if (last == all.end()) return all;
  const std::string job = job_of(*last);
  std::erase_if(all, [&](const log::CounterSnapshot& process) { return job_of(process) != job; });
  return all;
}

bool counts(const log::CounterSnapshot& process) {
  const log::CounterPage& page = process.page;
  if (page.closed != 0) return false;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const log::Signs signs{.heartbeat = page.heartbeat_realtime_ns,
                         .modified = 0,
                         .now = static_cast<std::uint64_t>(now.count())};
  const log::Sight sight = log::look_for({.host = process.host(),
                                          .boot_id = text_of(page.boot_id, sizeof page.boot_id),
                                          .pid_namespace = page.pid_namespace,
                                          .time_namespace = page.time_namespace,
                                          .pid = page.pid,
                                          .start_time = page.start_time});
  return log::life_of(false, sight, signs) == log::Life::running;
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
