// The log of a process that was packed by several threads: by assistants of the helper, and by
// threads of the program that wait for a chunk.
#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/work_share.hpp"
#include "tests/unit/held_thread.hpp"

namespace uctrace::log::test {
namespace {

constexpr std::uint64_t kRecordsOfChunk = (kMinChunkBytes - sizeof(ChunkHeader)) / 24;
constexpr std::uint32_t kAssistants = 2;

// A process with three threads that pack in each turn.
template <typename Program>
void run_shared(const Folder& folder, Program program) {
  folder.run_unstarted([&] {
    setenv("UCTRACE_HELPERS", std::to_string(1 + kAssistants).c_str(), 1);
    test_shares_always = true;
    return start() && program();
  });
}

void record_chunks(std::uint64_t chunks) {
  for (std::uint64_t i = 0; i < chunks * kRecordsOfChunk; ++i) record_one();
}

// Until the ring has room for more.
bool is_packed() {
  return happens([] { return pool.recycled.load() == pool.retirements.load(); });
}

bool have_assistants() {
  return happens([] { return packer->team->threads() == kAssistants; });
}

// Records until one that assists had a part of it. Returns how many chunks that took; 0 = in vain.
std::uint64_t record_until_assisted() {
  constexpr std::uint64_t kAtOnce = 8;  // one alone is packed by one thread
  std::uint64_t chunks = 0;
  const bool assisted = happens([&] {
    record_chunks(kAtOnce);
    chunks += kAtOnce;
    return is_packed() && packer->team->assisted() != 0;
  });
  return assisted ? chunks : 0;
}

void check_whole(const LogFile& log, std::uint64_t made) {
  const Damage damage = log.damage();
  std::string text;
  for (const std::string& sentence : damage.sentences()) text += sentence + ' ';
  CHECK(text == "");
  const Totals totals = totals_of(log);
  CHECK(totals.read == totals.recorded);
  CHECK(totals.ids.size() == totals.read);  // none twice
  CHECK(totals.recorded + totals.dropped == made);
}

// Of a chunk that the thread has taken from its desk, which a signal handler keeps from going on.
// Every now and then one has; nullptr: not within the time.
Place* hold_one(pthread_t thread) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < give_up) {
    may_go_on = false;
    pthread_kill(thread, SIGUSR1);
    if (!happens([] { return is_away.load(); })) return nullptr;
    // The first packer does its other work, and then waits for 2 ms.
    for (int ms = 0; ms < 200; ++ms) {
      if (const ChunkHeader* chunk = packer->team->held_chunk()) return &pool.places[chunk->place];
      usleep(1000);
    }
    may_go_on = true;
    if (!happens([] { return !is_away.load(); })) return nullptr;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("threads that wait for a chunk pack others, and nothing is lost") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 4, kAtOnce = 100'000, kMostRounds = 2000;
  const Folder folder;
  const SharedMemory<std::atomic<std::uint64_t>> made;
  folder.run_never_dropping([&] {
    const auto has_assisted = [] { return packer->team->assisted() != 0; };
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t round = 0; round < kMostRounds && !has_assisted(); ++round) {
          for (std::uint64_t k = 0; k < kAtOnce; ++k) record_one();
          *made += kAtOnce;
        }
      });
    }
    threads.clear();
    return has_assisted();
  });
  check_whole(folder.log(), *made);
  CHECK(totals_of(folder.log()).dropped == 0);
}

TEST_CASE("a chunk that a thread of the program is still reading is not used again") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 3, kAtOnce = 10'000, kMoreChunks = 100;
  const Folder folder;
  const SharedMemory<std::atomic<std::uint64_t>> made;
  folder.run_never_dropping([&] {
    signal(SIGUSR1, stay_until_let_go);
    std::atomic<bool> enough{false};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        while (!enough) {
          for (std::uint64_t k = 0; k < kAtOnce; ++k) record_one();
          *made += kAtOnce;
        }
      });
    }
    const LetGo at_the_end;
    Place* const place = hold_one(threads[0].native_handle());
    bool well = place != nullptr;
    const std::uint64_t before = pool.recycled.load();
    well = well && happens([&] { return pool.recycled.load() > before + kMoreChunks; });
    well = well && place->state.load() == PlaceState::retired;
    may_go_on = true;
    enough = true;
    threads.clear();
    return well && is_packed();  // that one, too
  });
  check_whole(folder.log(), *made);
  CHECK(totals_of(folder.log()).dropped == 0);
}

TEST_CASE("where several threads pack, no record is lost and none is there twice") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 3, kRounds = 12, kChunks = 8;
  const Folder folder;
  run_shared(folder, [] {
    std::atomic<std::uint64_t> packed{0};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          record_chunks(kChunks);
          packed += is_packed();
        }
      });
    }
    threads.clear();
    return packed == kThreads * kRounds && have_assistants();
  });
  check_whole(folder.log(), kThreads * kRounds * kChunks * kRecordsOfChunk);
}

TEST_CASE(
    "threads that assist are there from the start of the log on, and have a part of its work") {
  if (!has_helper()) return;
  const Folder folder;
  const SharedMemory<std::uint64_t> chunks;
  run_shared(folder, [&] {
    const bool there = have_assistants();
    *chunks = record_until_assisted();
    return there && *chunks != 0;
  });
  check_whole(folder.log(), *chunks * kRecordsOfChunk);
}

TEST_CASE("a process that ends while several threads pack has all in its log") {
  if (!has_helper()) return;
  constexpr std::uint64_t kChunks = 100;
  const Folder folder;
  run_shared(folder, [] {
    record_chunks(kChunks);
    return true;
  });
  check_whole(folder.log(), kChunks * kRecordsOfChunk);
}

TEST_CASE("a child forked while several threads pack has threads and a log of its own") {
  if (!has_helper()) return;
  constexpr std::uint64_t kChunks = 60, kOfChild = 30;
  const Folder folder;
  run_shared(folder, [] {
    record_chunks(kChunks);
    const pid_t child = fork();
    if (child == 0) {
      if (!start()) exit(1);
      record_chunks(kOfChild);
      exit(have_assistants() ? 0 : 1);
    }
    record_chunks(kChunks);
    return Folder::wait_for(child) == 0;
  });
  std::vector<std::uint64_t> made;
  for (const auto& path : folder.log_paths()) {
    const LogFile log = LogFile::open(path);
    const Totals totals = totals_of(log);
    made.push_back(totals.recorded + totals.dropped);
    check_whole(log, made.back());
  }
  std::sort(made.begin(), made.end());
  REQUIRE(made.size() == 2);
  CHECK(made[0] == kOfChild * kRecordsOfChunk);
  CHECK(made[1] == 2 * kChunks * kRecordsOfChunk);
}

TEST_CASE("what several threads could not write is written once the file takes more") {
  if (!has_helper()) return;
  constexpr std::uint64_t kChunks = 40;
  const Folder folder;
  run_shared(folder, [] {
    record_chunks(kChunks);
    const bool began = is_packed();
    limit_files(1);
    record_chunks(kChunks);
    const bool failed = happens([] { return packer_error() != 0; });
    limit_files(RLIM_INFINITY);
    const bool ended = happens([] { return packer_error() == 0; }) && is_packed();
    record_chunks(kChunks);
    return began && failed && ended && have_assistants();
  });
  check_whole(folder.log(), 3 * kChunks * kRecordsOfChunk);
}

}  // namespace uctrace::log::test
