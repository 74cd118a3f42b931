// The writing side of the event log, in processes of its own, read back by the reading side.
#include "event-log/recorder/recorder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "event-log/recorder/new_log.hpp"
#include "event-log/recorder/pool.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

std::atomic<std::uint64_t> in_handler{0};

void record_in_handler(int) {
  record_one();
  ++in_handler;
}

// Of pthread_atfork(). ThreadSanitizer, which has some, takes the threads of the parent for the
// child's.
pid_t fork_without_handlers() {
#if defined(__SANITIZE_THREAD__)
  return fork();
#else
  return _Fork();
#endif
}

}  // namespace

TEST_CASE("what was told in the log of a process is told again in that of its child") {
  static int resets;
  resets = 0;
  const Folder folder;
  folder.run_unstarted([] {
    for (int i = 0; i < 3; ++i) at_new_log([] { ++resets; });
    if (!start() || !start() || resets != 1) return false;
    const pid_t child = fork_without_handlers();
    if (child == 0) _exit(resets == 1 && start() && resets == 2 ? 0 : 1);
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 && resets == 1;
  });
}

TEST_CASE("a program that closes all files does not lose its log, nor its own files") {
  constexpr std::uint64_t kRecords = 200'000;
  const Folder folder;
  const fs::path own = folder / "own";
  folder.run([&] {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    const int fd = open(own.c_str(), O_RDWR | O_CREAT, 0644);
    if (fd != 3 || write(fd, "mine", 4) != 4) return false;  // the log is not among the files
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      record_one();
      if (i % 1000 == 0) usleep(200);
    }
    return true;
  });
  std::ifstream file(own);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "mine");
  const LogFile log = folder.log();
  CHECK(log.page().write_errno == 0);
  CHECK(log.page().closed == 1);
  const Totals totals = totals_of(log);
  CHECK(totals.read == totals.recorded);
  CHECK(totals.recorded + totals.dropped == kRecords);
}

TEST_CASE("threads that start together and in turn keep their records and ids apart") {
  constexpr std::uint64_t kThreads = 8, kRounds = 20, kRecords = 500;
  const Folder folder;
  folder.run([&] {
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
          for (std::uint64_t k = 0; k < kRecords; ++k) record_one();
        });
      }
      threads.clear();
      usleep(20'000);
    }
    return true;
  });
  const LogFile log = folder.log();
  CHECK_FALSE(log.damage().any());
  // Lanes of ended threads are reused, for the last ones to end possibly a round late.
  CHECK(log.lanes().size() <= 2 * kThreads + 1);
  const Totals totals = totals_of(log);
  CHECK(totals.read == totals.recorded);
  CHECK(totals.ids.size() == totals.read);
  CHECK(totals.recorded + totals.dropped == kThreads * kRounds * kRecords);
}

TEST_CASE("threads that never drop wait for what is not packed yet, and it is counted") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 4, kRecords = 100'000, kMostRounds = 2000;
  constexpr auto has_waited = [] {
    return __atomic_load_n(&pool.page->waits, __ATOMIC_RELAXED) != 0;
  };
  const Folder folder;
  folder.run_never_dropping([&] {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t round = 0; round < kMostRounds && !has_waited(); ++round) {
          for (std::uint64_t k = 0; k < kRecords; ++k) record_one();
        }
      });
    }
    return true;
  });
  const LogFile log = folder.log();
  const Totals totals = totals_of(log);
  CHECK(totals.recorded >= kRecords);
  CHECK(totals.recorded % kRecords == 0);
  CHECK(totals.dropped == 0);
  CHECK(totals.read == totals.recorded);
  CHECK(log.page().never_drops == 1);
  CHECK(log.page().waits > 0);
  CHECK(log.page().waited_ns > 0);
}

TEST_CASE("threads that never drop have a slot for each operation, however many are under way") {
  if (!has_helper()) return;
  constexpr int kThreads = 4, kSlots = 150'000;
  static std::atomic<int> missing;
  const Folder folder;
  missing = 0;
  folder.run_never_dropping([] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] {
        record_one();
        for (int k = 0; k < kSlots; ++k) missing += acquire_slot(*lane()) == nullptr;
      });
    }
    threads.clear();
    return missing == 0;
  });
  CHECK(folder.log().page().waits > 0);
}

TEST_CASE("threads that live shortly, one after the other, use the same lanes") {
  constexpr std::uint64_t kThreads = 1000;
  const Folder folder;
  folder.run([&] {
    for (std::uint64_t i = 0; i < kThreads; ++i) std::thread(record_one).join();
    return true;
  });
  const LogFile log = folder.log();
  CHECK_FALSE(log.damage().any());
  CHECK(log.lanes().size() <= 2);  // the main thread's, for what it defines
  const Totals totals = totals_of(log);
  CHECK(totals.recorded == kThreads);
  CHECK(totals.ids.size() == kThreads);
}

namespace {

std::uint64_t dropped_for(const LogFile& log, DropCause cause) {
  return log.dropped_by_cause()[static_cast<std::size_t>(cause)];
}

// Each drop has one kind and one cause, in its lane.
void check_causes(const LogFile& log) {
  std::uint64_t by_cause = 0;
  for (const std::uint64_t count : log.dropped_by_cause()) by_cause += count;
  CHECK(by_cause == log.dropped_records());
}

// All live at once, and each records the same before and after they do.
void record_in_threads(std::uint64_t count, std::uint64_t records) {
  std::barrier all(static_cast<std::ptrdiff_t>(count));
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t k = 0; k < records; ++k) record_one();
      all.arrive_and_wait();
      for (std::uint64_t k = 0; k < records; ++k) record_one();
    });
  }
}

}  // namespace

TEST_CASE("as many threads as there are record at once") {
  if (!has_helper()) return;
  for (const std::uint64_t threads : {300, 1000}) {
    CAPTURE(threads);
    const Folder folder;
    folder.run([&] {
      record_in_threads(threads, 10);
      record_in_threads(threads, 10);  // others, on the same lanes
      return true;
    });
    const LogFile log = folder.log();
    CHECK_FALSE(log.damage().any());
    CHECK(log.page().closed == 1);
    CHECK(log.lanes().size() == threads + 1);  // and the main thread's
    CHECK(log.dropped_records() == 0);
    const Totals totals = totals_of(log);
    CHECK(totals.recorded == 2 * threads * 20);
    CHECK(totals.read == totals.recorded);
    CHECK(totals.ids.size() == totals.read);
    const LogFile counters = LogFile::open_counters(folder.log_path());
    CHECK(totals_of(counters).recorded == totals.recorded);
  }
}

TEST_CASE("more threads than there can be lanes are counted, with that cause") {
  const std::uint64_t kLanes = has_helper() ? kMaxLanes : kPageLanes, kThreads = kLanes + 30;
  const Folder folder;
  folder.run([&] {
    std::barrier all(static_cast<std::ptrdiff_t>(kThreads));
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        if (lane() == nullptr) count_without_lane(DropKind::uct);
        all.arrive_and_wait();
      });
    }
    return true;
  });
  const LogFile log = folder.log();
  CHECK(log.lanes().size() == kLanes);
  CHECK(log.page().dropped_without_lane[0] == kThreads - (kLanes - 1));  // one is the main thread's
  CHECK(dropped_for(log, DropCause::no_lane) == log.dropped_records());
  check_causes(log);
}

TEST_CASE("all causes together are all that was dropped") {
  const Folder folder;
  folder.run([&] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int k = 0; k < 500'000; ++k) record_one();  // without a pause for the helper
      });
    }
    return true;
  });
  const LogFile log = folder.log();
  check_causes(log);
  const std::uint64_t none = dropped_for(log, DropCause::no_lane) +
                             dropped_for(log, DropCause::refused) +
                             dropped_for(log, DropCause::no_room);
  CHECK(none == 0);
  std::uint64_t recorded = 0;
  for (const LaneInfo& lane : log.lanes()) recorded += lane.counters.recorded_events;
  CHECK(recorded + log.dropped_records() == 4 * 500'000);
}

TEST_CASE("a signal handler may take and return slots at any moment") {
  constexpr int kSignals = 20'000, kHeld = 8;
  static std::atomic<int> handled;
  static std::atomic<bool> well;
  // Takes some and writes to them; one that another thread holds as well would change meanwhile.
  static constexpr auto use_slots = [](unsigned char mark) {
    Slot* mine[kHeld];
    for (Slot*& slot : mine) {
      slot = acquire_slot(*lane());
      if (slot != nullptr) memset(slot->payload, mark, sizeof slot->payload);
    }
    for (Slot* slot : mine) {
      if (slot == nullptr) {
        well = false;
        continue;
      }
      for (const unsigned char byte : slot->payload) {
        if (byte != mark) well = false;
      }
      release_slot(slot);
    }
  };
  const Folder folder;
  well = true;
  folder.run([&] {
    struct sigaction action {};
    action.sa_handler = [](int) {
      use_slots(2);
      ++handled;
    };
    sigaction(SIGUSR1, &action, nullptr);
    std::atomic<bool> done{false};
    const pthread_t target = pthread_self();
    std::thread sender([&] {
      sigset_t own;
      sigemptyset(&own);
      sigaddset(&own, SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &own, nullptr);
      for (int i = 0; i < kSignals && !done; ++i) pthread_kill(target, SIGUSR1);
      done = true;
    });
    while (!done) use_slots(1);
    sender.join();
    return well && handled > 0;
  });
}

TEST_CASE("a signal handler may record at any moment") {
  constexpr std::uint64_t kRecords = 400'000, kSignals = 20'000, kStep = 2000;
  const Folder folder;
  folder.run([&] {
    struct sigaction action {};
    action.sa_handler = record_in_handler;
    sigaction(SIGUSR1, &action, nullptr);
    const pthread_t target = pthread_self();
    std::atomic<bool> done{false};
    std::thread sender([&] {
      sigset_t own;
      sigemptyset(&own);
      sigaddset(&own, SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &own, nullptr);
      for (std::uint64_t i = 0; i < kSignals && !done; ++i) pthread_kill(target, SIGUSR1);
    });
    std::uint64_t mine = 0;
    for (; mine < kRecords || in_handler == 0; ++mine) {
      record_one();
      if (mine % kStep == 0) usleep(100);  // for sender and helper, if they have no other core
    }
    done = true;
    sender.join();
    // What happened has to be said where the reader sees it: by a counter of the thread.
    lane()->counters().mpi_calls = mine + in_handler;
    return true;
  });
  const LogFile log = folder.log();
  CHECK_FALSE(log.damage().any());
  const Totals totals = totals_of(log);
  std::uint64_t made = 0;
  for (const LaneInfo& lane : log.lanes()) made += lane.counters.mpi_calls;
  CHECK(made > kRecords);
  CHECK(totals.read == totals.recorded);
  CHECK(totals.ids.size() == totals.read);
  CHECK(totals.recorded + totals.dropped == made);
}

}  // namespace uctrace::log::test
