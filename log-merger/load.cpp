// Which logs make the job, and the one clock they are placed on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "log-merger/error.hpp"
#include "log-merger/job.hpp"
#include "log-merger/launcher_line.hpp"

namespace uctrace::merge {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> log_paths(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kLogSuffix) {
      paths.push_back(it->path());
    }
  }
  if (error) {
    throw Error({fmt::format("cannot read '{}'", folder.string()), error.message(),
                 "name a folder made by `uctrace record`"});
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::uint64_t started_at(const log::LogFile& file) { return file.page().anchors[0].realtime_ns; }

// Reads every log; those that cannot be read leave a note.
std::vector<log::LogFile> read_logs(const fs::path& folder, std::vector<std::string>& notes) {
  std::vector<log::LogFile> files;
  Problem last = {.what = {},
                  .why = "it holds no *.ulog file",
                  .to_do = "record a job with `uctrace record -- COMMAND`"};
  for (const fs::path& path : log_paths(folder)) {
    try {
      files.push_back(log::LogFile::open(path));
    } catch (const Error& error) {
      last = error.problem();
      last.why = last.what + ": " + last.why;
      notes.push_back(error.message());
    }
  }
  if (files.empty()) {
    last.what = fmt::format("no log in '{}' can be read", folder.string());
    throw Error(last);
  }
  return files;
}

// The logs of one job: the newest, or the one whose key begins with `wanted`.
std::vector<log::LogFile> choose_job(std::vector<log::LogFile> files, const std::string& wanted,
                                     std::vector<std::string>& notes) {
  std::map<std::string, std::uint64_t> newest;
  for (const log::LogFile& file : files) {
    auto& start = newest[std::string(file.job())];
    start = std::max(start, started_at(file));
  }
  const std::string* chosen = nullptr;
  for (const auto& [key, start] : newest) {
    if (key.starts_with(wanted) && (chosen == nullptr || start > newest[*chosen])) {
      chosen = &key;
    }
  }
  std::string others;
  for (const auto& [key, start] : newest) {
    if (&key != chosen) {
      others += fmt::format("{}'{}'", others.empty() ? "" : ", ", key);
    }
  }
  if (chosen == nullptr) {
    throw Error({fmt::format("no job '{}' in the folder", wanted), "it holds " + others,
                 "name one of these, or leave --job out for the newest"});
  }
  if (newest.size() > 1) {
    notes.push_back(fmt::format("the folder holds {} jobs; this is {}'{}'; --job takes another: {}",
                                newest.size(), wanted.empty() ? "the newest, " : "", *chosen,
                                others));
  }
  std::erase_if(files, [&](const log::LogFile& file) { return file.job() != *chosen; });
  return files;
}

// One process may appear twice (a copied file): the longer log stays.
void drop_duplicates(std::vector<log::LogFile>& files, std::vector<std::string>& notes) {
  std::map<std::string, std::size_t> kept;
  std::vector<log::LogFile> unique;
  for (log::LogFile& file : files) {
    const auto [place, fresh] = kept.try_emplace(file.process_key(), unique.size());
    if (fresh) {
      unique.push_back(std::move(file));
      continue;
    }
    notes.push_back(fmt::format("{}: a second log of process {}; the longer one is used",
                                file.name(), file.process_key()));
    if (file.event_count() > unique[place->second].event_count()) {
      unique[place->second] = std::move(file);
    }
  }
  files = std::move(unique);
}

// One clock for the job: CLOCK_MONOTONIC_RAW within a host; hosts are set against each other by
// their wall clocks, which is as good as the site's time service.
void place_on_one_clock(Job& job) {
  std::map<std::string, std::int64_t, std::less<>> host_offset;
  std::int64_t first = INT64_MAX;
  for (ProcessLog& log : job.logs) {
    if (log.clock.anchors().empty()) {
      continue;
    }
    const log::Anchor& anchor = log.clock.anchors().front();
    host_offset.try_emplace(
        std::string(log.file.boot_id()),
        static_cast<std::int64_t>(anchor.realtime_ns) - log.clock.monotonic_ns(anchor.tick));
  }
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(host_offset[std::string(log.file.boot_id())]);
    if (!log.clock.anchors().empty()) {
      first = std::min(first, log.clock.job_ns(log.clock.anchors().front().tick));
    }
    job.clock_error_ns =
        std::max(job.clock_error_ns, static_cast<double>(log.clock.max_deviation_ns()));
  }
  first = first == INT64_MAX ? 0 : first;
  job.run.epoch_realtime_ns = static_cast<std::uint64_t>(first);
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(host_offset[std::string(log.file.boot_id())] - first);
  }
}

// A process too short for two anchors takes the tick rate of another on its host.
void share_clock_rates(Job& job) {
  for (ProcessLog& log : job.logs) {
    for (const ProcessLog& other : job.logs) {
      if (!log.clock.rate_known() && other.clock.rate_known() &&
          other.file.boot_id() == log.file.boot_id()) {
        log.clock.adopt_rate(other.clock.ns_per_tick());
      }
    }
  }
}

// Without a name for their job, processes of several jobs cannot be told apart.
void note_repeated_ranks(Job& job) {
  std::set<std::int32_t> seen;
  for (const ProcessLog& log : job.logs) {
    if (log.rank() >= 0 && log.file.job().empty() && !seen.insert(log.rank()).second) {
      job.run.notes.push_back(fmt::format(
          "rank {} is there more than once: the folder holds several jobs that no launcher gave a "
          "name, and they are taken for one; record each into a folder of its own",
          log.rank()));
      return;
    }
  }
}

void note_losses(Job& job) {
  for (const ProcessLog& log : job.logs) {
    if (const std::uint64_t dropped = log.file.dropped_records(); dropped > 0) {
      const std::uint32_t reason = log.file.page().write_errno;
      job.run.notes.push_back(fmt::format(
          "{}: {} records were dropped{}", log.file.name(), dropped,
          reason != 0 ? fmt::format(": {}", std::strerror(static_cast<int>(reason))) : ""));
    }
  }
}

void note_missing_ranks(Job& job) {
  std::set<std::int32_t> present;
  std::int32_t size = 0;
  for (const ProcessLog& log : job.logs) {
    present.insert(log.rank());
    size = std::max(size, log.file.page().world_size);
  }
  std::string missing;
  constexpr int kNamed = 16;
  int count = 0;
  for (std::int32_t rank = 0; rank < size; ++rank) {
    if (!present.contains(rank) && ++count <= kNamed) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (count > kNamed) {
    missing += fmt::format(" and {} more", count - kNamed);
  }
  if (!missing.empty()) {
    job.run.notes.push_back(fmt::format(
        "no log of rank {} (of {}): its file is missing, or the process could not write one; what "
        "it sent and received is unmatched",
        missing, size));
  }
}

}  // namespace

Job load_job(const std::filesystem::path& folder, const MergeOptions& options) {
  Job job;
  std::vector<log::LogFile> files =
      choose_job(read_logs(folder, job.run.notes), options.job, job.run.notes);
  drop_duplicates(files, job.run.notes);
  std::stable_sort(files.begin(), files.end(), [](const log::LogFile& a, const log::LogFile& b) {
    const auto key = [](const log::LogFile& f) {
      const std::int32_t rank = f.page().world_rank;
      return std::pair(rank < 0 ? INT32_MAX : rank, started_at(f));
    };
    return key(a) < key(b);
  });
  for (log::LogFile& file : files) {
    job.logs.emplace_back(std::move(file));
  }
  share_clock_rates(job);
  place_on_one_clock(job);
  for (std::size_t i = 0; i < job.logs.size(); ++i) {
    load_process(job, static_cast<Index>(i));
    if (job.logs[i].clock.backward_anchors() != 0) {
      job.run.notes.push_back(fmt::format("{}: its clock went backwards; do not trust its times",
                                          job.logs[i].file.name()));
    }
    for (const std::string& sentence : job.logs[i].file.damage().sentences()) {
      job.run.notes.push_back(fmt::format("{}: {}", job.logs[i].file.name(), sentence));
    }
  }
  note_losses(job);
  note_missing_ranks(job);
  note_repeated_ranks(job);
  job.run.command = launcher_line(folder, job.logs.front().file.job());
  return job;
}

}  // namespace uctrace::merge
