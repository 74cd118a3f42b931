// A log that is read while its process ends: whatever it does between two steps of the reader, a
// snapshot is never mistaken for the final log.
#include <sys/syscall.h>

#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

constexpr std::uint64_t kEvents = 200;

// A process that recorded kEvents events and now waits to be told how to end.
class WaitingProcess {
 public:
  enum class End : char { exits = 'e', leaves = 'l', is_killed = 'k' };

  explicit WaitingProcess(const Folder& folder) {
    REQUIRE(pipe(ready_) == 0);
    REQUIRE(pipe(told_) == 0);
    pid_ = folder.start_process([&] {
      for (std::uint64_t i = 0; i < kEvents; ++i) record_one();
      return wait_to_end();
    });
    char byte = 0;
    REQUIRE(read(ready_[0], &byte, 1) == 1);
  }
  // The main thread may end before the process.
  struct OfThread {};
  WaitingProcess(const Folder& folder, OfThread) {
    REQUIRE(pipe(ready_) == 0);
    REQUIRE(pipe(told_) == 0);
    pid_ = folder.start_process([&]() -> bool {
      record_one();
      std::thread([&] { syscall(SYS_exit_group, wait_to_end() ? 0 : 1); }).detach();
      syscall(SYS_exit, 0);  // of this thread alone
      return false;
    });
    char byte = 0;
    REQUIRE(read(ready_[0], &byte, 1) == 1);
  }
  ~WaitingProcess() {
    for (const int fd : {ready_[0], ready_[1], told_[0], told_[1]}) close(fd);
    if (!is_reaped_) Folder::wait_for(pid_);
  }
  WaitingProcess(const WaitingProcess&) = delete;
  WaitingProcess& operator=(const WaitingProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns when it is over, and still a zombie.
  void end(End how) {
    const char byte = static_cast<char>(how);
    REQUIRE(write(told_[1], &byte, 1) == 1);
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0);
  }
  void reap() {
    Folder::wait_for(pid_);
    is_reaped_ = true;
  }

 private:
  bool wait_to_end() const {
    char how = 'r';
    if (write(ready_[1], &how, 1) != 1 || read(told_[0], &how, 1) != 1) return false;
    if (how == static_cast<char>(End::leaves)) _exit(0);
    if (how == static_cast<char>(End::is_killed)) raise(SIGKILL);
    return true;
  }

  int ready_[2], told_[2];
  pid_t pid_ = -1;
  bool is_reaped_ = false;
};

using End = WaitingProcess::End;

bool is_mapped(const LogFile& log) { return log.page().storage == Storage::mapped; }

// A file beside the log, which is removed when the process ends.
bool has_chunk_file(const LogFile& log) { return is_mapped(log) && log.page().chunk_bytes == 0; }

}  // namespace

TEST_CASE("a process that ends while its log is read is not taken for dead, at any step") {
  for (const End how : {End::exits, End::leaves, End::is_killed}) {
    for (const SnapshotStep at :
         {SnapshotStep::writer, SnapshotStep::page, SnapshotStep::chunks, SnapshotStep::blocks}) {
      CAPTURE(static_cast<char>(how));
      CAPTURE(static_cast<int>(at));
      const Folder folder;
      WaitingProcess process(folder);
      const LogFile during = LogFile::open(folder.log_path(), [&](SnapshotStep step) {
        if (step == at) process.end(how);
      });
      // The last page is read only if it was written before, or where the file of chunks is gone.
      const bool saw_end =
          how == End::exits &&
          (at == SnapshotStep::writer || (at == SnapshotStep::page && has_chunk_file(during)));
      CHECK(during.state() == (saw_end ? WriterState::closed : WriterState::running));
      CHECK(during.complete() == saw_end);
      if (saw_end || is_mapped(during)) CHECK(totals_of(during).read == kEvents);

      const WriterState end = how == End::exits ? WriterState::closed : WriterState::dead;
      const LogFile zombie = folder.log();
      CHECK(zombie.state() == end);
      process.reap();
      const LogFile after = folder.log();
      CHECK(after.state() == end);
      CHECK(after.complete() == (how == End::exits));
      if (how == End::exits || is_mapped(after)) CHECK(totals_of(after).read == kEvents);
    }
  }
}

TEST_CASE("a page alone tells the same") {
  for (const End how : {End::exits, End::leaves}) {
    const Folder folder;
    WaitingProcess process(folder);
    CHECK(LogFile::open_counters(folder.log_path()).state() == WriterState::running);
    process.end(how);
    CHECK(LogFile::open_counters(folder.log_path()).state() ==
          (how == End::exits ? WriterState::closed : WriterState::dead));
  }
}

TEST_CASE("a process whose first thread has ended still runs") {
  const Folder folder;
  WaitingProcess process(folder, WaitingProcess::OfThread{});
  const std::string stat = "/proc/" + std::to_string(process.pid()) + "/stat";
  for (std::string line; line.find(") Z ") == line.npos;) {
    std::getline(std::ifstream(stat), line);
    REQUIRE_FALSE(line.empty());
  }
  CHECK(folder.log().state() == WriterState::running);
  process.end(End::is_killed);
  CHECK(folder.log().state() == WriterState::dead);
}

}  // namespace uctrace::log::test
