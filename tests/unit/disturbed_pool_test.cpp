// Threads that begin to record while lanes, chunks or the file system are disturbed: they lose as
// little as possible, do not wait in vain, and report the right cause.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/pool.hpp"
#include "tests/unit/recording_folder.hpp"

namespace {

// A file system that accepts no writes for a while.
std::atomic<bool> holds_writes{false};

void let_writes_go() {
  holds_writes = false;
  holds_writes.notify_all();
}

}  // namespace

// In place of the C library's, for the recorder as well.
extern "C" ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t offset) {
  holds_writes.wait(true);  // waiting for a disk uses no CPU either
  return syscall(SYS_pwrite64, fd, data, bytes, offset);
}

namespace uctrace::log::test {
namespace {

constexpr unsigned kMostSeconds = 30;  // of a process that waits too long

template <typename Condition>
bool comes_true(Condition condition) {
  return test::comes_true(condition, std::chrono::seconds(10));
}

std::uint64_t dropped_for(const LogFile& log, DropCause cause) {
  return log.dropped_by_cause()[static_cast<std::size_t>(cause)];
}

// As many threads as there are lanes in the page, the calling one's included, until all arrive.
class AllLanes {
 public:
  AllLanes() : all_(kPageLanes) {
    for (std::size_t i = 1; i < kPageLanes; ++i) {
      threads_.emplace_back([&] {
        if (lane() != nullptr) ++count_;
        ready_.arrive_and_wait();
        all_.arrive_and_wait();
      });
    }
    ready_.arrive_and_wait();
  }
  ~AllLanes() { all_.arrive_and_drop(); }
  bool all() const { return count_ == kPageLanes - 1; }

 private:
  std::atomic<std::size_t> count_{0};
  std::barrier<> ready_{kPageLanes};
  std::barrier<> all_;
  std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("a thread that got no lane gets one once there are more") {
  if (!has_helper()) return;
  const Folder folder;
  folder.run([&] {
    alarm(kMostSeconds);
    limit_files(1);  // no table of lanes can be added
    const AllLanes lanes;
    bool got_one = false;
    std::thread late([&] {
      if (!lanes.all() || lane() != nullptr) return;
      limit_files(RLIM_INFINITY);
      got_one = comes_true([] { return lane() != nullptr; });
      record_one();
    });
    late.join();
    return got_one;
  });
}

TEST_CASE("threads that begin together under one lock, for which they spin, lose nothing") {
  if (!has_helper()) return;
  constexpr int kThreads = 200;
  const Folder folder;
  folder.run([&] {
    alarm(kMostSeconds);
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
    std::atomic<int> with_room{0};
    std::barrier all(kThreads);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const Lane* mine = lane();
        if (mine != nullptr && mine->current_chunk[0] != nullptr) ++with_room;
        while (taken.test_and_set(std::memory_order_acquire)) {
        }
        record_one();
        taken.clear(std::memory_order_release);
        all.arrive_and_wait();
      });
    }
    threads.clear();
    return with_room == kThreads;
  });
  CHECK(folder.log().dropped_records() == 0);
}

TEST_CASE("who finds no lane in a log that was removed does not wait for one") {
  if (!has_helper()) return;
  const Folder folder;
  folder.run([&] {
    alarm(kMostSeconds);
    for (const auto& entry : fs::directory_iterator(folder / "")) fs::remove(entry.path());
    if (!comes_true([] { return lane_shortage() == DropCause::removed; })) return false;
    const AllLanes lanes;
    for (int i = 0; i < 60; ++i) {  // of which each would wait for a second
      std::thread([] {
        if (lane() == nullptr) count_without_lane(DropKind::uct);
      }).join();
    }
    return true;
  });
}

TEST_CASE("one thread waits for lanes that the file system holds up, and the others do not") {
  if (!has_helper()) return;
  const Folder folder;
  folder.run([&] {
    alarm(kMostSeconds);
    holds_writes = true;
    const AllLanes lanes;
    for (int i = 0; i < 60; ++i) {
      std::thread([] {
        if (lane() == nullptr) count_without_lane(DropKind::uct);
      }).join();
    }
    let_writes_go();
    return true;
  });
  CHECK(dropped_for(folder.log(), DropCause::storage_slow) == 60);
}

TEST_CASE("while the file system holds up the helper that is the cause, however long") {
  if (!has_helper() || getenv("UCTRACE_DRAIN") != nullptr) return;  // it holds up the packer then
  const Folder folder;
  folder.run([] {
    alarm(kMostSeconds);
    record_one();
    holds_writes = true;
    const auto is_held = [] {
      for (int i = 0; i < 10'000; ++i) record_one();
      return waits_for_storage();
    };
    // Longer than a helper may stay away.
    if (!comes_true(is_held) ||
        !comes_true([] { return monotonic_raw_ns() > pool.next_look_ns.load(); })) {
      let_writes_go();
      return false;
    }
    for (int i = 0; i < 10'000; ++i) record_one();
    let_writes_go();
    return true;
  });
  CHECK(dropped_for(folder.log(), DropCause::helper_gone) == 0);
}

TEST_CASE("chunks that threads have are none that wait to be packed") {
  if (!has_helper()) return;
  constexpr int kThreads = 120;
  const Folder folder;
  folder.run([] {
    alarm(kMostSeconds);
    std::barrier full(kThreads + 1), end(kThreads + 1);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        constexpr std::size_t kText = 1000, kChunksOfEach = 4;
        const char text[kText] = {};
        for (std::size_t bytes = 0; bytes < kChunksOfEach * kChunkBytes; bytes += kText) {
          define_text(TextKind{}, 1, text, kText);
          for (std::size_t k = 0; k < kText / sizeof(UctCompletion); ++k) record_one();
          if (bytes % (16 * kText) == 0) usleep(1000);  // for the packer
        }
        full.arrive_and_wait();
        end.arrive_and_wait();
      });
    }
    full.arrive_and_wait();
    const bool well = comes_true([] { return chunk_shortage() == DropCause::helper_late; });
    end.arrive_and_wait();
    return well;
  });
}

TEST_CASE("a thread that must not drop waits for no chunk that cannot come") {
  if (!has_helper()) return;
  constexpr int kAgain = 20;
  const Folder folder;
  folder.run_never_dropping([] {
    alarm(kMostSeconds);
    // Threads hold all allowed chunks, and none of these will be packed.
    while (wait_for_free_chunk() != nullptr) {
    }
    for (int i = 0; i < kAgain; ++i) {
      if (wait_for_free_chunk() != nullptr) return false;
    }
    return true;
  });
  CHECK(folder.log().page().waits > kAgain);
}

TEST_CASE("a process whose folder is gone has one log, of counters") {
  const Folder folder;
  folder.run_unstarted([&] {
    setenv("UCTRACE_FALLBACK_DIR", getenv("UCTRACE_DIR"), 1);
    setenv("UCTRACE_DIR", (folder / "none").c_str(), 1);
    if (!start()) return false;
    for (int i = 0; i < 1000; ++i) record_one();
    return true;
  });
  const LogFile log = folder.log();
  CHECK(log.page().closed == 1);
  CHECK(log.dropped_records() >= 1000);
}

}  // namespace uctrace::log::test
