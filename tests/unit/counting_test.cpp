// Counting while others read, in separate processes (event-log/recorder/counters.hpp), compared
// with naive sums.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "event-log/reader/counter_file.hpp"
#include "event-log/recorder/counters.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

struct CountingFolder : Folder {
  explicit CountingFolder(const char* mode = "only") { setenv("UCTRACE_COUNTERS", mode, 1); }
  ~CountingFolder() { unsetenv("UCTRACE_COUNTERS"); }

  std::vector<CounterSnapshot> read_all() const {
    std::vector<CounterSnapshot> found;
    const CounterFolder folder = open_counters(path());
    CHECK(folder.unread.empty());
    for (const CounterFile& file : folder.files) found.push_back(file.read());
    return found;
  }
  CounterSnapshot read_one() const {
    const auto all = read_all();
    REQUIRE(all.size() == 1);
    return all.front();
  }
};

std::uint64_t messages_of(const CounterSnapshot& snapshot, CounterKind kind) {
  std::uint64_t sum = 0;
  for (const auto& [key, total] : snapshot.rows) sum += kind_of(key) == kind ? total.messages : 0;
  return sum;
}

}  // namespace

TEST_CASE("counters of random messages are their sums") {
  if (!has_helper()) return;
  const CountingFolder folder;
  const auto each = [](auto visit) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 200'000; ++i) {
      const auto kind = static_cast<CounterKind>(1 + random() % 5);
      visit(kind, random() % 30, random() % 4 == 0 ? 0 : random() >> (34 + random() % 30));
    }
  };
  folder.run([&] {
    each([](CounterKind kind, std::uint64_t peer, std::uint64_t bytes) {
      count(kind, peer, bytes);
    });
    return true;
  });
  std::map<CounterKey, CounterTotal> expected;
  std::array<CounterTotal, kCounterKinds> by_kind{}, placed{};
  each([&](CounterKind kind, std::uint64_t peer, std::uint64_t bytes) {
    expected[counter_key(kind, size_bin(bytes), peer)] += {1, bytes};
    by_kind[static_cast<std::size_t>(kind)] += {1, bytes};
  });
  const CounterSnapshot found = folder.read_one();
  CHECK(found.page.closed == 1);
  // Counts from before a larger table was ready are in no row, but not lost either.
  for (const auto& [key, total] : found.rows) {
    CHECK(total.messages <= expected.at(key).messages);
    placed[static_cast<std::size_t>(kind_of(key))] += total;
  }
  for (std::size_t i = 0; i < kCounterKinds; ++i) {
    placed[i] += {found.page.unplaced[i].messages, found.page.unplaced[i].bytes};
    CHECK(placed[i] == by_kind[i]);
  }
}

TEST_CASE("100,000 peers have room once it is known that they come") {
  if (!has_helper()) return;
  constexpr std::uint64_t kPeers = 100'000;
  const CountingFolder folder;
  folder.run([&] {
    expect_rows(2 * kPeers);
    usleep(300'000);  // what MPI_Init would take for so many
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t peer = 0; peer < kPeers; ++peer) count(CounterKind::external, peer, 8);
    }
    return true;
  });
  const CounterSnapshot found = folder.read_one();
  CHECK(messages_of(found, CounterKind::external) + found.unplaced_messages() == 2 * kPeers);
  CHECK(found.rows.size() + found.unplaced_messages() / 2 >= kPeers);
  // 32 bytes a row, and tables that are at least a third full.
  CHECK(found.file_bytes < kPeers * 200);
}

TEST_CASE("threads count apart and are summed") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 8, kMessages = 20'000;
  const CountingFolder folder("too");
  folder.run([&] {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([] {
        for (std::uint64_t k = 0; k < kMessages; ++k) {
          count(CounterKind::external, k % 7, k % 3 == 0 ? 0 : 1000);
        }
      });
    }
    return true;
  });
  const CounterSnapshot found = folder.read_one();
  CHECK(messages_of(found, CounterKind::external) + found.unplaced_messages() ==
        kThreads * kMessages);
  CHECK(found.rows.size() <= 14);
}

TEST_CASE("a fork child counts in a file of its own, once it records") {
  if (!has_helper()) return;
  const CountingFolder folder;
  folder.run([&] {
    count(CounterKind::external, 1, 10);
    const pid_t child = fork();
    if (child == 0) {
      count(CounterKind::external, 1, 10);  // nowhere: it has no log
      if (!start()) _exit(1);
      count(CounterKind::external, 2, 20);
      exit(0);
    }
    count(CounterKind::external, 1, 10);
    return Folder::wait_for(child) == 0;
  });
  const auto all = folder.read_all();
  REQUIRE(all.size() == 2);
  const CounterKey first = counter_key(CounterKind::external, size_bin(10), 1);
  const CounterKey second = counter_key(CounterKind::external, size_bin(20), 2);
  const bool parent_first = all[0].rows.contains(first);
  const CounterSnapshot &parent = all[parent_first ? 0 : 1], &child = all[parent_first ? 1 : 0];
  CHECK(parent.rows == std::map<CounterKey, CounterTotal>{{first, {2, 20}}});
  CHECK(child.rows == std::map<CounterKey, CounterTotal>{{second, {1, 20}}});
}

TEST_CASE("names beyond the first section are kept, and lost ones are counted") {
  if (!has_helper()) return;
  constexpr std::uint32_t kNames = 20'000;
  const CountingFolder folder;
  folder.run([&] {
    for (std::uint32_t i = 0; i < kNames; ++i) {
      name_counter(CounterNameKind::peer, i, i + 1, nullptr, 0);
      if (i % 500 == 0) usleep(12'000);
    }
    return true;
  });
  const CounterSnapshot found = folder.read_one();
  CHECK(found.peers.size() + found.page.lost_names == kNames);
  CHECK(found.peers.size() > 4000);  // more than the first section holds
  for (const auto& [number, uid] : found.peers) CHECK(uid == number + 1);
}

TEST_CASE("a process that is killed leaves its last numbers") {
  if (!has_helper() || getenv("UCTRACE_DRAIN") != nullptr) return;
  const CountingFolder folder;
  const pid_t child = folder.start_process([&] {
    for (int i = 0; i < 1000; ++i) count(CounterKind::internal, 5, 64);
    raise(SIGKILL);
    return false;
  });
  Folder::wait_for(child);
  const CounterSnapshot found = folder.read_one();
  CHECK(found.page.closed == 0);
  CHECK(messages_of(found, CounterKind::internal) == 1000);
}

TEST_CASE("where nothing is counted there is no file") {
  const Folder folder;
  folder.run([&] {
    count_in(*lane(), counter_key(CounterKind::external, 1, 1), 1);
    return !counts();
  });
  CHECK(open_counters(folder.path()).files.empty());
}

}  // namespace uctrace::log::test
