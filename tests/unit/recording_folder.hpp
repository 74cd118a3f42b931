// For tests of the writing side of the event log: processes of their own that record into a folder
// of their own, read back by the reading side.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <set>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "event-log/recorder/recorder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::log::test {

namespace fs = std::filesystem;

// The tests run with a helper thread, and as `record --no-helper` has it, too.
inline bool has_helper() {
  const char* none = getenv("UCTRACE_NO_HELPER");
  return none == nullptr || none[0] != '1';
}

// Looks every millisecond.
template <typename Condition>
bool comes_true(Condition condition, std::chrono::seconds within) {
  const auto give_up = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    usleep(1000);
  }
  return true;
}

// A value that a process of a test passes to the test.
template <typename Value>
class SharedMemory {
 public:
  SharedMemory() {
    void* memory =
        mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    value_ = new (memory) Value{};
  }
  ~SharedMemory() { munmap(static_cast<void*>(value_), sizeof(Value)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Value& operator*() const { return *value_; }

 private:
  Value* value_;
};

class Folder : public uctrace::test::TemporaryFolder {
 public:
  std::vector<fs::path> log_paths() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path())) {
      if (entry.path().extension() == ".ulog") found.push_back(entry.path());
    }
    return found;
  }
  // The only log in the folder.
  fs::path log_path() const {
    const auto found = log_paths();
    REQUIRE(found.size() == 1);
    return found.front();
  }
  LogFile log() const { return LogFile::open(log_path()); }

  // Runs `program` in a process that records into this folder; false in `program` = it failed.
  template <typename Program>
  void run(Program program) const {
    check_success(start_process(program));
  }
  // The same as `record --never-drop` has it.
  template <typename Program>
  void run_never_dropping(Program program) const {
    setenv("UCTRACE_NEVER_DROP", "1", 1);
    run(program);
    unsetenv("UCTRACE_NEVER_DROP");
  }
  // The same where the program itself begins to record.
  template <typename Program>
  void run_unstarted(Program program) const {
    check_success(start_unstarted(program));
  }

  template <typename Program>
  pid_t start_process(Program program) const {
    return start_unstarted([&] { return start() && program(); });
  }
  template <typename Program>
  pid_t start_unstarted(Program program) const {
    fflush(nullptr);  // or the child prints it too
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves nothing behind
      setenv("UCTRACE_DIR", path().c_str(), 1);
      exit(program() ? 0 : 1);
    }
    REQUIRE(child > 0);
    return child;
  }
  static int wait_for(pid_t child) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
  }

 private:
  static void check_success(pid_t child) {
    const int status = wait_for(child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
};

// No file of the process grows beyond: what is written there fails. RLIM_INFINITY: as far as is
// allowed.
inline void limit_files(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

inline void record_one() {
  if (Lane* mine = lane()) {
    const Id id = new_id(*mine, IdKind::uct_operation);
    if (auto* record = mine->reserve<UctCompletion>(DropKind::uct)) {
      record->tick = now();
      record->operation = id;
      publish(record, RecordType::uct_completion, sizeof *record / 8, 0, 0);
    }
  }
}

struct Totals {
  std::uint64_t recorded = 0, dropped = 0, read = 0;
  std::set<Id> ids;
};

inline Totals totals_of(const LogFile& log) {
  Totals totals;
  for (const LaneInfo& lane : log.lanes()) totals.recorded += lane.counters.recorded_events;
  totals.dropped = log.dropped_records();
  log.for_each_record(Stream::events, [&](std::uint16_t, const UctCompletionView& view) {
    ++totals.read;
    totals.ids.insert(view.r.operation);
  });
  return totals;
}

}  // namespace uctrace::log::test
