#include "log-merger/live/live_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "event-log/reader/error.hpp"
#include "event-log/reader/liveness.hpp"
#include "log-merger/live/came_since.hpp"

namespace uctrace::live {
namespace {

namespace fs = std::filesystem;
using log::CounterSnapshot;

// After exec it is still the same process.
auto process_of(const CounterSnapshot& snapshot) {
  const log::ProcessName name = snapshot.process();
  return std::tuple(name.host, name.boot_id, name.pid_namespace, name.start_time, name.pid);
}

bool is_same(const CounterSnapshot& a, const CounterSnapshot& b) {
  return process_of(a) == process_of(b) && a.page.image == b.page.image &&
         a.page.started_realtime_ns == b.page.started_realtime_ns && a.job() == b.job();
}

template <typename Row>
std::vector<Row> reordered(std::vector<Row>&& rows, const std::vector<std::size_t>& order) {
  std::vector<Row> result;
  result.reserve(order.size());
  for (const std::size_t i : order) result.push_back(std::move(rows[i]));
  return result;
}

}  // namespace

std::string_view name_of(ProcessState state) {
  static constexpr std::string_view kNames[] = {"counting", "ended",  "replaced",
                                                "killed",   "silent", "unseen"};
  return kNames[static_cast<std::size_t>(state)];
}

std::uint64_t realtime_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

ProcessState state_of(const CounterSnapshot& process, std::uint64_t now_ns) {
  if (process.page.closed != 0) return ProcessState::ended;
  const log::Signs signs{
      .heartbeat = process.page.heartbeat_realtime_ns, .modified = 0, .now = now_ns};
  switch (log::life_of(false, log::look_for(process.process()), signs)) {
    case log::Life::closed:
      return ProcessState::ended;
    case log::Life::running:
      return ProcessState::counting;
    case log::Life::dead:
      return ProcessState::killed;
    case log::Life::no_sign:
      return ProcessState::silent;
    case log::Life::unknown:
      break;
  }
  return ProcessState::unseen;
}

bool Reading::counts() const {
  return std::any_of(processes.begin(), processes.end(),
                     [](const LiveProcess& process) { return may_count(process.state); });
}

std::string Reading::job() const { return now.empty() ? std::string() : now.front().job(); }

// A process of an older job may start, or exec, while a newer job runs.
std::uint64_t Reading::started_realtime_ns() const {
  std::uint64_t first = UINT64_MAX;
  for (const CounterSnapshot& process : now) {
    first = std::min(first, process.page.started_realtime_ns);
  }
  return first;
}

LiveFolder::FileState LiveFolder::state_of_file(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .changed_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                        std::int64_t{status.st_mtim.tv_nsec}};
}

// A copy of the counters may be older than the one before: values already read never decrease.
void LiveFolder::update(Job& job, std::size_t place, CounterSnapshot&& snapshot,
                        bool was_unreadable) {
  CounterSnapshot& now = job.reading.now[place];
  LiveProcess& process = job.reading.processes[place];
  job.tracked[place].is_final = now.page.closed != 0;
  for (const auto& [key, before] : now.rows) {
    log::CounterTotal& row = snapshot.rows[key];
    row = {before.messages + came_since(before.messages, row.messages),
           before.bytes + came_since(before.bytes, row.bytes)};
  }
  // The increase while it could not be read belongs to no known interval.
  process.base = was_unreadable ? Base::same : Base::rows;
  if (options_.keeps_before) process.before = std::move(now.rows);
  process.file_gone = false;
  now = std::move(snapshot);
}

void LiveFolder::add(const std::string& name, CounterSnapshot&& snapshot, const FileState& file) {
  const std::string key = snapshot.job();
  Job& job = jobs_[key];
  files_[name] = {key, job.reading.now.size()};
  // Counts before the first reading belong to no known interval.
  const bool was_there = !has_read_ || unreadable_.contains(name) || passed_over_.contains(name);
  job.reading.now.push_back(std::move(snapshot));
  job.reading.processes.push_back(
      {.number = next_number_++, .base = was_there ? Base::same : Base::zero, .before = {}});
  job.tracked.push_back({.name = name, .file = file, .is_final = false});
}

void LiveFolder::take(const fs::path& path, std::set<std::string>& unreadable) {
  const std::string name = path.filename().string();
  const FileState file = state_of_file(path);
  const auto passed = passed_over_.find(name);
  if (passed != passed_over_.end() && passed->second.is_over && passed->second.file == file) {
    return;
  }
  const auto at = files_.find(name);
  Job* const job = at != files_.end() ? &jobs_.at(at->second.job) : nullptr;
  const std::size_t place = job != nullptr ? at->second.process : 0;
  if (job != nullptr) {
    job->reading.processes[place].file_gone = false;
    if (job->tracked[place].is_final && job->tracked[place].file == file) return;
  }
  try {
    CounterSnapshot snapshot = log::CounterFile(path).read();
    if (job != nullptr && is_same(job->reading.now[place], snapshot)) {
      job->tracked[place].file = file;
      update(*job, place, std::move(snapshot), unreadable_.contains(name));
    } else {
      // Another process has taken the name: the earlier one keeps its last numbers.
      if (job != nullptr) job->reading.processes[place].file_gone = true;
      add(name, std::move(snapshot), file);
    }
  } catch (const log::FileError& problem) {
    unreadable.insert(name);
    unread_.push_back(problem.message());
  }
}

// The rank of a process may come later than its file.
void LiveFolder::sort_by_rank(const std::string& key, Job& job) {
  const std::vector<CounterSnapshot>& now = job.reading.now;
  std::vector<std::size_t> order(now.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return now[a].rank() < now[b].rank(); });
  if (std::is_sorted(order.begin(), order.end())) return;
  std::vector<std::size_t> place_now(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place_now[order[i]] = i;
  for (auto& [name, place] : files_) {
    if (place.job == key) place.process = place_now[place.process];
  }
  job.reading.now = reordered(std::move(job.reading.now), order);
  job.reading.processes = reordered(std::move(job.reading.processes), order);
  job.tracked = reordered(std::move(job.tracked), order);
}

void LiveFolder::find_states(Reading& reading) {
  std::map<decltype(process_of(CounterSnapshot{})), std::uint32_t> newest_image;
  for (const CounterSnapshot& snapshot : reading.now) {
    std::uint32_t& image = newest_image[process_of(snapshot)];
    image = std::max(image, snapshot.page.image);
  }
  const std::uint64_t now_ns = realtime_ns();
  for (std::size_t i = 0; i < reading.now.size(); ++i) {
    const log::CounterPage& page = reading.now[i].page;
    LiveProcess& process = reading.processes[i];
    process.state = state_of(reading.now[i], now_ns);
    if (process.state != ProcessState::ended &&
        page.image < newest_image[process_of(reading.now[i])]) {
      process.state = ProcessState::replaced;
    }
    process.is_copy = page.storage == log::Storage::drained && may_count(process.state);
  }
}

std::vector<const Reading*> LiveFolder::jobs() const {
  std::vector<const Reading*> jobs;
  for (const auto& [key, job] : jobs_) jobs.push_back(&job.reading);
  std::stable_sort(jobs.begin(), jobs.end(), [](const Reading* a, const Reading* b) {
    return a->started_realtime_ns() > b->started_realtime_ns();
  });
  return jobs;
}

const Reading* LiveFolder::job(const std::string& key) const {
  const auto found = jobs_.find(key);
  return found == jobs_.end() ? nullptr : &found->second.reading;
}

void LiveFolder::pass_over(const std::string& key) {
  const auto found = jobs_.find(key);
  const Job& job = found->second;
  for (std::size_t place = 0; place < job.tracked.size(); ++place) {
    const Tracked& tracked = job.tracked[place];
    const auto at = files_.find(tracked.name);
    // Another process may have taken the name.
    if (at == files_.end() || at->second.job != key || at->second.process != place) continue;
    passed_over_[tracked.name] = {
        .file = tracked.file,
        .is_over = job.reading.now[place].page.closed != 0 ||
                   job.reading.processes[place].state == ProcessState::killed};
    files_.erase(at);
  }
  jobs_.erase(found);
}

// A folder may be shared with older jobs, which have ended.
void LiveFolder::pass_over_others() {
  if (jobs_.empty()) return;
  const std::string newest = jobs().front()->job();
  std::set<std::string> shown, ended;
  for (const auto& [key, job] : jobs_) {
    const bool is_wanted = key == newest || key == options_.job || job.reading.counts();
    (is_wanted ? shown : ended).insert(key);
  }
  const bool one_began = !std::includes(shown_.begin(), shown_.end(), shown.begin(), shown.end());
  for (const std::string& key : ended) {
    if (!one_began && shown_.contains(key)) {
      shown.insert(key);
    } else {
      pass_over(key);
    }
  }
  shown_ = std::move(shown);
}

void LiveFolder::read() {
  const Clock::time_point at = Clock::now();
  std::vector<fs::path> paths;
  try {
    paths = log::counter_paths(folder_);
  } catch (const Error&) {
    if (!has_read_) throw;
  }
  unread_.clear();
  for (auto& [key, job] : jobs_) {
    for (LiveProcess& process : job.reading.processes) {
      process.base = Base::same;
      process.before.clear();
      process.file_gone = true;
    }
  }
  std::set<std::string> unreadable;
  for (const fs::path& path : paths) take(path, unreadable);
  const double seconds = has_read_ ? std::chrono::duration<double>(at - read_at_).count() : 0;
  for (auto& [key, job] : jobs_) {
    sort_by_rank(key, job);
    find_states(job.reading);
    job.reading.seconds = seconds;
  }
  pass_over_others();
  unreadable_ = std::move(unreadable);
  read_at_ = at;
  has_read_ = true;
}

}  // namespace uctrace::live
