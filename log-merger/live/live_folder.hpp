// The jobs of a folder while they count: their counter files, read again and again. Reading blocks
// nothing; a process that ended, was killed or whose file is gone keeps its last numbers.
//
//   LiveFolder folder(path); folder.read(); // as often as wanted folder.jobs().front()->now //
//   every process of a job, by its last readable file
//
// One thread. A reading opens one file at a time, however many processes there are.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event-log/reader/counter_file.hpp"

namespace uctrace::live {

enum class ProcessState : std::uint8_t {
  counting,
  ended,     // in an orderly way
  replaced,  // by another program in the same process (exec)
  killed,    // it is gone; its numbers are the last that it stored
  silent,    // it cannot be seen from here, and gave no sign of life for two minutes
  unseen,    // it cannot be seen from here, and gives no signs: it may still count
};
inline constexpr ProcessState kProcessStates[] = {ProcessState::counting, ProcessState::ended,
                                                  ProcessState::replaced, ProcessState::killed,
                                                  ProcessState::silent,   ProcessState::unseen};
std::string_view name_of(ProcessState state);

// As far as can be seen from here, at `now_ns` (CLOCK_REALTIME). Never `replaced`: that takes
// knowledge of the job's other processes.
ProcessState state_of(const log::CounterSnapshot& process, std::uint64_t now_ns);
constexpr bool may_count(ProcessState state) {
  return state == ProcessState::counting || state == ProcessState::unseen;
}
std::uint64_t realtime_ns();

using CounterRows = std::map<log::CounterKey, log::CounterTotal>;

// The counts of a process at the previous reading.
enum class Base : std::uint8_t {
  rows,  // LiveProcess::before
  zero,  // nothing: it was not there
  same,  // the same as now: it was not read, or was unreadable before
};

// Facts about a process besides its counters.
struct LiveProcess {
  std::uint64_t number = 0;  // of the process in this LiveFolder; never reused
  Base base = Base::same;
  CounterRows before;
  ProcessState state = ProcessState::counting;
  bool is_copy = false;    // its file is a copy, refreshed every second: it lags
  bool file_gone = false;  // the counters are the last ones seen
};

// Of a job.
struct Reading {
  // Its processes in the order of ranks, and the facts about each.
  std::vector<log::CounterSnapshot> now;
  std::vector<LiveProcess> processes;
  double seconds = 0;  // since the previous reading; 0: there was none

  bool counts() const;  // one of its processes may still count
  std::string job() const;
  std::uint64_t started_realtime_ns() const;  // its first process
};

struct LiveOptions {
  std::string job;            // always shown
  bool keeps_before = false;  // needed for differences: LiveProcess::before
};

class LiveFolder {
 public:
  explicit LiveFolder(std::filesystem::path folder, LiveOptions options = {})
      : folder_(std::move(folder)), options_(std::move(options)) {}

  // Throws Error if the folder cannot be read and never could. In the first reading all have
  // Base::same.
  void read();

  // The newest job, and others that count; the newest first. A job that ended stays until another
  // one begins: so occasional readers get its last numbers.
  std::vector<const Reading*> jobs() const;
  // nullptr: not shown.
  const Reading* job(const std::string& key) const;
  // Files that cannot be read, a line each.
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Distinguishes versions of a file.
  struct FileState {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const FileState&) const = default;
  };
  struct Tracked {
    std::string name;
    FileState file;
    bool is_final = false;  // read once more after it was closed
  };
  struct Job {
    Reading reading;
    std::vector<Tracked> tracked;  // beside its processes
  };
  struct Place {
    std::string job;
    std::size_t process = 0;
  };
  // For a job that is not shown.
  struct PassedOver {
    FileState file;
    bool is_over = false;  // closed, or its process was killed: as long as it is the same file
  };

  static FileState state_of_file(const std::filesystem::path& path);
  void take(const std::filesystem::path& path, std::set<std::string>& unreadable);
  void update(Job& job, std::size_t place, log::CounterSnapshot&& snapshot, bool was_unreadable);
  void add(const std::string& name, log::CounterSnapshot&& snapshot, const FileState& file);
  void sort_by_rank(const std::string& key, Job& job);
  static void find_states(Reading& reading);
  void pass_over_others();
  void pass_over(const std::string& key);

  const std::filesystem::path folder_;
  const LiveOptions options_;
  std::map<std::string, Job> jobs_;     // by key
  std::map<std::string, Place> files_;  // by name
  std::map<std::string, PassedOver> passed_over_;
  std::set<std::string> shown_;       // jobs, at the reading before
  std::set<std::string> unreadable_;  // names, at the reading before
  std::vector<std::string> unread_;
  std::uint64_t next_number_ = 0;
  Clock::time_point read_at_{};
  bool has_read_ = false;
};

}  // namespace uctrace::live
