#include "cli/chosen_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <vector>

#include "cli/data-folder/job_log.hpp"
#include "event-log/reader/counter_matrix.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli {

namespace fs = std::filesystem;
using live::LiveFolder;
using live::Reading;

namespace {

// Why a folder has nothing to show: one line that says what to do.
[[noreturn]] void refuse_without_counters(const LiveFolder& jobs, const fs::path& folder) {
  const bool has_logs = !logs_in(folder).empty();
  std::string why = has_logs ? "its job was recorded without them, or there was no room for them"
                             : "it has no counter files";
  if (!jobs.unread().empty()) {
    why = jobs.unread().front();
    if (why.ends_with('.')) why.pop_back();
    const std::size_t more = jobs.unread().size() - 1;
    if (more != 0) why += fmt::format("; {} more cannot be read", more);
    if (has_logs) why += " (perhaps there was no room for them)";
  }
  throw Error({.what = "no counters in " + folder.string(),
               .why = std::move(why),
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

void warn_of_unnamed(const std::vector<log::CounterSnapshot>& job) {
  std::uint64_t unplaced = 0, lost_names = 0;
  for (const log::CounterSnapshot& process : job) {
    unplaced += process.unplaced_messages();
    lost_names += process.page.lost_names;
  }
  if (unplaced != 0 || lost_names != 0) {
    std::cerr << fmt::format(
        "uctrace: warning: there was no room for {} messages, which are in no row, and {} names "
        "(`uctrace counters --by processes` tells of which process)\n",
        unplaced, lost_names);
  }
  const std::uint64_t unnamed = log::unnamed_messages(job);
  if (unnamed != 0) {
    std::cerr << fmt::format(
        "uctrace: warning: {} messages are of a peer or communicator that could not be named: they "
        "are in rows without a peer, and in no profile or matrix\n",
        unnamed);
  }
}

const Reading& chosen_job(const LiveFolder& jobs, const fs::path& folder, const std::string& key) {
  const std::vector<const Reading*> all = jobs.jobs();
  if (all.empty()) refuse_without_counters(jobs, folder);
  if (key.empty()) return *all.front();
  if (const Reading* job = jobs.job(key)) return *job;
  std::vector<std::string> keys;
  for (const Reading* job : all) keys.push_back(job->job());
  throw Error({.what = "--job " + key,
               .why = "no such job counts in " + folder.string(),
               .to_do = fmt::format("name one of: {}", fmt::join(keys, ", "))});
}

}  // namespace uctrace::cli
