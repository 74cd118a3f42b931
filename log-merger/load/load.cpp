// Chooses the logs of the job, and finds anomalies in them.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>

#include "event-log/reader/error.hpp"
#include "event-log/reader/log_head.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/job/long_lists.hpp"
#include "log-merger/mpi/communicators.hpp"
#include "log-merger/spill/spill.hpp"

namespace uctrace {

namespace fs = std::filesystem;

namespace {

void add_topology(const fs::path& path, LogSet& logs) {
  std::string name = path.filename().string();
  const bool finished = path.extension() != ".part";
  if (!finished) name.resize(name.size() - std::string_view(".part").size());
  if (!name.ends_with(kTopologySuffix)) return;
  name.resize(name.size() - std::string_view(kTopologySuffix).size());
  logs.topologies.push_back({name, path, finished});
}

void add_to(std::map<std::string, JobInFolder>& jobs, std::string_view key,
            const log::ProcessPage& page) {
  JobInFolder& job = jobs[std::string(key)];
  job.key = key;
  job.started_realtime_ns = std::max(job.started_realtime_ns, page.anchors[0].realtime_ns);
  ++job.processes;
}

std::vector<JobInFolder> listed(std::map<std::string, JobInFolder>& jobs) {
  std::vector<JobInFolder> list;
  for (auto& [key, job] : jobs) list.push_back(std::move(job));
  return list;
}

// The newest whose key begins with `wanted`; nullptr if there is none.
JobInFolder* find_job(std::vector<JobInFolder>& jobs, const std::string& wanted) {
  JobInFolder* found = nullptr;
  for (JobInFolder& job : jobs) {
    if (job.key.starts_with(wanted) &&
        (found == nullptr || job.started_realtime_ns > found->started_realtime_ns)) {
      found = &job;
    }
  }
  return found;
}

// Reads the head of each. Returns the job of each source that is a log, else nothing.
std::vector<std::optional<std::string>> look_at_logs(const fs::path& folder, LogSet& logs) {
  std::map<std::string, JobInFolder> jobs;
  std::vector<std::optional<std::string>> job_of(logs.sources.size());
  for (std::size_t i = 0; i < logs.sources.size(); ++i) {
    Source& source = logs.sources[i];
    if (!is_log(source)) continue;
    const fs::path path = folder / source.name;
    source.state = logs.look_at(path.string(), [&] {
      const log::LogHead head = log::read_log_head(path);
      job_of[i] = head.job();
      add_to(jobs, head.job(), head.page);
      return head.state;
    });
  }
  logs.jobs = listed(jobs);
  return job_of;
}

// A log, or why it cannot be read.
struct ReadLog {
  std::optional<log::LogFile> file;
  std::exception_ptr failure;
};

ReadLog read_log(const fs::path& path) {
  ReadLog read;
  try {
    read.file.emplace(log::LogFile::open(path));
  } catch (const log::FileError&) {
    read.failure = std::current_exception();
  }
  return read;
}

}  // namespace

// Lists the files before reading them: changes meanwhile then show up as changes later.
LogSet read_logs(const fs::path& folder, const MergeOptions& options) {
  LogSet logs{.folder = folder.string(), .files = {}, .left_out = {}};
  logs.sources = list_sources(folder);
  for (const Source& source : logs.sources) add_topology(folder / source.name, logs);
  const std::vector<std::optional<std::string>> job_of = look_at_logs(folder, logs);
  const JobInFolder* const job = find_job(logs.jobs, options.job);
  const auto is_wanted = [&](std::size_t i) { return job != nullptr && job_of[i] == job->key; };
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < logs.sources.size(); ++i) {
    if (is_wanted(i)) bytes += logs.sources[i].bytes;
  }
  spill::use_huge_pages();
  spill::begin_if_needed(spill::needed_for_logs(bytes), options.memory);
  logs.workers = workers_for(logs.sources, options.threads, options.progress);
  std::vector<ReadLog> read(logs.sources.size());
  logs.workers.each(read.size(), [&](std::size_t i) {
    if (is_wanted(i)) read[i] = read_log(folder / logs.sources[i].name);
  });
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!is_wanted(i)) continue;
    Source& source = logs.sources[i];
    source.state = logs.add((folder / source.name).string(), [&]() -> log::LogFile {
      if (!read[i].file) std::rethrow_exception(read[i].failure);
      return *std::move(read[i].file);
    });
  }
  return logs;
}

namespace merge {

namespace {

std::uint64_t started_at(const log::LogFile& file) { return file.page().anchors[0].realtime_ns; }

void require_logs(const LogSet& logs) {
  if (!logs.files.empty()) {
    return;
  }
  Problem problem = {.what = fmt::format("no log in '{}' can be read", logs.folder),
                     .why = "it holds no *.ulog file",
                     .to_do = "record a job with `uctrace record -- COMMAND`"};
  if (const std::size_t bad = logs.left_out.size(); bad > 0) {
    const Problem& first = logs.left_out.front().problem;
    problem.why = bad == 1 ? "" : fmt::format("none of its {} logs; the first: ", bad);
    problem.why += first.what + ": " + first.why;
    problem.to_do = first.to_do;
  }
  throw Error(std::move(problem));
}

std::string processes_text(std::size_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

std::vector<JobInFolder> jobs_of(const std::vector<log::LogFile>& files) {
  std::map<std::string, JobInFolder> jobs;
  for (const log::LogFile& file : files) add_to(jobs, file.job(), file.page());
  return listed(jobs);
}

// The logs of one job: the newest, or the one whose key begins with `wanted`.
void choose_job(LogSet& logs, const std::string& wanted, Job& job) {
  if (logs.jobs.empty()) {
    require_logs(logs);
    logs.jobs = jobs_of(logs.files);
  }
  std::vector<JobInFolder>& jobs = job.findings.jobs = std::move(logs.jobs);
  JobInFolder* const chosen = find_job(jobs, wanted);
  NamedList others;
  for (const JobInFolder& other : jobs) {
    if (&other != chosen) {
      others.add(fmt::format("'{}' ({})", other.key, processes_text(other.processes)));
    }
  }
  if (chosen == nullptr) {
    throw Error({fmt::format("no job '{}' in the folder", wanted), "it holds " + others.text(),
                 "name one of these, or leave --job out for the newest"});
  }
  chosen->shown = true;
  if (jobs.size() > 1) {
    job.run.notes.push_back(
        fmt::format("the folder holds {} jobs; this is {}'{}' ({}); --job takes another: {}",
                    jobs.size(), wanted.empty() ? "the newest, " : "", chosen->key,
                    processes_text(chosen->processes), others.text()));
  }
  std::erase_if(logs.files, [&](const log::LogFile& file) { return file.job() != chosen->key; });
  require_logs(logs);
}

void note_left_out(const std::vector<LeftOut>& files, Run& run) {
  NotesOfKind notes(run.notes,
                    "more files cannot be read as logs: `uctrace info --format json` lists them");
  for (const LeftOut& file : files) notes.add(Error(file.problem).message());
}

// One process may appear twice (a copied file): the log with more events is kept.
void drop_second_logs(std::vector<log::LogFile>& files, Job& job) {
  std::map<std::string, std::size_t> kept;
  std::vector<log::LogFile> unique;
  unique.reserve(files.size());
  NotesOfKind notes(
      job.run.notes,
      "more logs are of processes that have another one: `uctrace info --format json` lists them");
  for (log::LogFile& file : files) {
    const auto [place, fresh] = kept.try_emplace(file.process_key(), unique.size());
    if (fresh) {
      unique.push_back(std::move(file));
      continue;
    }
    log::LogFile& known = unique[place->second];
    if (file.event_count() > known.event_count()) {
      std::swap(file, known);
    }
    const bool same = file.same_bytes(known);
    job.findings.second_logs.push_back({file.name(), known.name(), same});
    notes.add(
        same ? fmt::format("{}: a copy of {}; it is counted once", file.name(), known.name())
             : fmt::format("{}: a second log of the process of {}, with other content: an older "
                           "copy, or one of them is damaged; the one with more events, {}, is used",
                           file.name(), known.name(), known.name()));
  }
  files = std::move(unique);
}

// Of processes that never began MPI, such as those of OpenSHMEM: the rank that the launcher gave
// them. A rank's children inherit it, so it counts only if a single process has it.
void adopt_launch_ranks(Job& job) {
  std::map<std::int32_t, int> processes_with;
  for (const ProcessLog& log : job.logs) {
    const log::ProcessPage& page = log.file.page();
    const bool launched = page.launch_size > 0;
    if (page.world_rank >= 0 || launched) {
      ++processes_with[page.world_rank >= 0 ? page.world_rank : page.launch_rank];
    }
  }
  for (ProcessLog& log : job.logs) {
    const log::ProcessPage& page = log.file.page();
    const bool launched = 0 <= page.launch_rank && page.launch_rank < page.launch_size;
    if (page.world_rank < 0 && launched && processes_with[page.launch_rank] == 1) {
      log.launch_rank = page.launch_rank;
    }
  }
}

std::uint64_t count_events(const Job& job) {
  std::uint64_t events = 0;
  for (const ProcessLog& log : job.logs) events += log.file.event_count();
  return events;
}

}  // namespace

Job load_job(LogSet logs, const MergeOptions& options) {
  Job job;
  note_left_out(logs.left_out, job.run);
  choose_job(logs, options.job, job);
  job.findings.left_out = std::move(logs.left_out);
  job.topologies = std::move(logs.topologies);
  job.run.sources = std::move(logs.sources);
  job.workers = logs.workers;
  drop_second_logs(logs.files, job);
  job.logs.reserve(logs.files.size());
  for (log::LogFile& file : logs.files) {
    job.logs.emplace_back(std::move(file));
  }
  adopt_launch_ranks(job);
  spill::begin_if_needed(spill::needed_for_events(count_events(job)), options.memory);
  std::stable_sort(job.logs.begin(), job.logs.end(), [](const ProcessLog& a, const ProcessLog& b) {
    const auto key = [](const ProcessLog& log) {
      return std::pair(log.rank() < 0 ? INT32_MAX : log.rank(), started_at(log.file));
    };
    return key(a) < key(b);
  });
  place_on_one_clock(job);
  load_processes(job);
  join_communicators(job);
  note_anomalies(job);
  return job;
}

}  // namespace merge
}  // namespace uctrace
