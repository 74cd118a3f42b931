#include "log-merger/live/live_job.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "event-log/reader/error.hpp"
#include "event-log/reader/liveness.hpp"
#include "log-merger/live/came_since.hpp"
#include "log-merger/live/newest_job.hpp"

namespace uctrace::live {
namespace {

namespace fs = std::filesystem;
using log::CounterSnapshot;

// A program that replaces itself stays the same process.
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

LiveJob::FileState LiveJob::state_of_file(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .changed_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                        std::int64_t{status.st_mtim.tv_nsec}};
}

// A copy of the counters may be older than the one before it: nothing that was read goes down.
void LiveJob::update(std::size_t place, CounterSnapshot&& snapshot, bool was_unreadable) {
  CounterSnapshot& now = reading_.now[place];
  LiveProcess& process = reading_.processes[place];
  tracked_[place].is_final = now.page.closed != 0;
  for (const auto& [key, before] : now.rows) {
    log::CounterTotal& row = snapshot.rows[key];
    row = {before.messages + came_since(before.messages, row.messages),
           before.bytes + came_since(before.bytes, row.bytes)};
  }
  // What came while it could not be read is of no interval that we know.
  process.base = was_unreadable ? Base::same : Base::rows;
  process.before = std::move(now.rows);
  process.file_gone = false;
  now = std::move(snapshot);
}

void LiveJob::add(const std::string& name, CounterSnapshot&& snapshot, const FileState& file) {
  files_[name] = reading_.now.size();
  // What it counted before it could be read is of no interval that we know.
  const bool was_there = !has_read_ || unreadable_.contains(name);
  reading_.now.push_back(std::move(snapshot));
  reading_.processes.push_back(
      {.number = next_number_++, .base = was_there ? Base::same : Base::zero, .before = {}});
  tracked_.push_back({.file = file, .is_final = false});
}

void LiveJob::take(const fs::path& path, std::set<std::string>& unreadable) {
  const std::string name = path.filename().string();
  const FileState file = state_of_file(path);
  const auto known = files_.find(name);
  if (known != files_.end()) {
    const Tracked& tracked = tracked_[known->second];
    reading_.processes[known->second].file_gone = false;
    if (tracked.is_final && tracked.file == file) return;
  }
  try {
    CounterSnapshot snapshot = log::CounterFile(path).read();
    if (known != files_.end() && is_same(reading_.now[known->second], snapshot)) {
      tracked_[known->second].file = file;
      update(known->second, std::move(snapshot), unreadable_.contains(name));
    } else {
      // Another process has taken the name: what was there before keeps its last numbers.
      if (known != files_.end()) reading_.processes[known->second].file_gone = true;
      add(name, std::move(snapshot), file);
    }
  } catch (const log::FileError& problem) {
    unreadable.insert(name);
    reading_.unread.push_back(problem.message());
  }
}

// A folder may be shared with an older job.
void LiveJob::keep_newest_job() {
  if (reading_.now.empty()) return;
  const std::string newest = newest_job(reading_.now);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < reading_.now.size(); ++i) {
    if (reading_.now[i].job() == newest) kept.push_back(i);
  }
  std::stable_sort(kept.begin(), kept.end(), [this](std::size_t a, std::size_t b) {
    return reading_.now[a].rank() < reading_.now[b].rank();
  });
  constexpr std::size_t kNowhere = SIZE_MAX;
  std::vector<std::size_t> place_now(reading_.now.size(), kNowhere);
  for (std::size_t i = 0; i < kept.size(); ++i) place_now[kept[i]] = i;
  Files files;
  for (const auto& [name, place] : files_) {
    if (place_now[place] != kNowhere) files.emplace(name, place_now[place]);
  }
  reading_.now = reordered(std::move(reading_.now), kept);
  reading_.processes = reordered(std::move(reading_.processes), kept);
  tracked_ = reordered(std::move(tracked_), kept);
  files_ = std::move(files);
}

void LiveJob::find_states() {
  std::map<decltype(process_of(CounterSnapshot{})), std::uint32_t> newest_image;
  for (const CounterSnapshot& snapshot : reading_.now) {
    std::uint32_t& image = newest_image[process_of(snapshot)];
    image = std::max(image, snapshot.page.image);
  }
  const std::uint64_t now_ns = realtime_ns();
  for (std::size_t i = 0; i < reading_.now.size(); ++i) {
    const log::CounterPage& page = reading_.now[i].page;
    LiveProcess& process = reading_.processes[i];
    process.state = state_of(reading_.now[i], now_ns);
    if (process.state != ProcessState::ended &&
        page.image < newest_image[process_of(reading_.now[i])]) {
      process.state = ProcessState::replaced;
    }
    process.is_copy = page.storage == log::Storage::drained && may_count(process.state);
  }
}

void LiveJob::read() {
  const Clock::time_point at = Clock::now();
  std::vector<fs::path> paths;
  try {
    paths = log::counter_paths(folder_);
  } catch (const Error&) {
    if (!has_read_) throw;
  }
  reading_.unread.clear();
  for (LiveProcess& process : reading_.processes) {
    process.base = Base::same;
    process.before.clear();
    process.file_gone = true;
  }
  std::set<std::string> unreadable;
  for (const fs::path& path : paths) take(path, unreadable);
  keep_newest_job();
  find_states();
  unreadable_ = std::move(unreadable);
  reading_.seconds = has_read_ ? std::chrono::duration<double>(at - read_at_).count() : 0;
  read_at_ = at;
  has_read_ = true;
}

}  // namespace uctrace::live
