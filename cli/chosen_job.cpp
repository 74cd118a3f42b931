#include "cli/chosen_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <system_error>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli {

namespace fs = std::filesystem;
using live::LiveFolder;
using live::Reading;

namespace {

// Why a folder shows nothing: one line that says what to do.
[[noreturn]] void refuse_without_counters(const fs::path& folder) {
  std::error_code error;
  bool has_logs = false;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    has_logs |= it->path().extension() == ".ulog";
  }
  throw Error({.what = "no counters in " + folder.string(),
               .why = has_logs ? "its job was recorded without them, or there was no room for them"
                               : "it has no counter files",
               .to_do = "record with --counters, or name another folder"});
}

}  // namespace

void warn_of_unread(const LiveFolder& jobs) {
  for (const std::string& line : jobs.unread()) std::cerr << "uctrace: warning: " << line << '\n';
}

void warn_of_missing_ranks(const std::vector<log::CounterSnapshot>& job) {
  const log::MissingRanks ranks = log::missing_ranks(job);
  if (ranks.missing == 0) return;
  std::cerr << fmt::format(
      "uctrace: warning: counters of {} of {} ranks are missing here: they have not begun yet, or "
      "there was no room for their files (`uctrace info` tells)\n",
      ranks.missing, ranks.all);
}

const Reading& chosen_job(const LiveFolder& jobs, const fs::path& folder, const std::string& key) {
  const std::vector<const Reading*> all = jobs.jobs();
  if (all.empty()) {
    warn_of_unread(jobs);
    refuse_without_counters(folder);
  }
  if (key.empty()) return *all.front();
  if (const Reading* job = jobs.job(key)) return *job;
  std::vector<std::string> keys;
  for (const Reading* job : all) keys.push_back(job->job());
  throw Error({.what = "--job " + key,
               .why = "no such job counts in " + folder.string(),
               .to_do = fmt::format("name one of: {}", fmt::join(keys, ", "))});
}

}  // namespace uctrace::cli
