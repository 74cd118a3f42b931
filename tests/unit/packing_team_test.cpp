// Several threads that pack: when there are any, how they share a turn, and what then is in the
// log.
#include "event-log/recorder/packing_team.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/work_share.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

// --- when ----------------------------------------------------------------------------------------

constexpr std::uint64_t kLook = 10'000'000;

// Two threads of the program and who packs, which has its core for itself.
constexpr CoreUse three_busy(std::uint64_t cores) {
  return {.cores = cores,
          .wall = kLook,
          .cpu = 3 * kLook,
          .turns = kLook,
          .turns_cpu = kLook,
          .waited = 0};
}

// --- how -----------------------------------------------------------------------------------------

constexpr std::uint32_t kPacks = 3, kAssists = 4;  // numbers of threads, as the team has them

struct ChunkMemory {
  alignas(64) unsigned char bytes[kMinChunkBytes];
};

// A chunk with so many records, each with words of its own.
void fill(ChunkMemory& memory, std::uint32_t sequence, std::size_t records) {
  auto* header = new (memory.bytes) ChunkHeader{};
  header->magic = kChunkMagic;
  header->bytes = kMinChunkBytes;
  header->lane = static_cast<std::uint16_t>(sequence % 3);
  header->stream = Stream::events;
  header->sequence = sequence;
  auto* record = reinterpret_cast<UctCompletion*>(header + 1);
  for (std::size_t i = 0; i < records; ++i, ++record) {
    record->tick = sequence * 1000 + i * i;
    record->operation = sequence + i;
    publish(record, RecordType::uct_completion, sizeof *record / 8, 0, 0);
  }
}

// What one thread makes of it.
std::string block_of(const Desk& desk) {
  return {reinterpret_cast<const char*>(desk.block), desk.header().bytes};
}
std::string packed_alone(const ChunkMemory& memory) {
  const auto desk = std::make_unique<Desk>();
  desk->encode(*reinterpret_cast<const ChunkHeader*>(memory.bytes), sizeof(ChunkHeader),
               kMostBlockBytes);
  return block_of(*desk);
}

bool give(PackingTeam& team, std::size_t number, const ChunkMemory& memory) {
  return team.give(number, *reinterpret_cast<const ChunkHeader*>(memory.bytes),
                   sizeof(ChunkHeader));
}

// A turn of many chunks as the packer does it; `between` is called before each wait.
template <typename Between>
void check_turn(PackingTeam& team, std::size_t count, Between between) {
  std::vector<ChunkMemory> chunks(count);
  for (std::size_t i = 0; i < count; ++i) {
    fill(chunks[i], static_cast<std::uint32_t>(i + 1), 1 + i * 37 % 2000);
  }
  std::size_t given = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (; given < std::min(count, i + kDesks); ++given) {
      REQUIRE(give(team, given, chunks[given]));
    }
    between();
    const std::string block = block_of(*team.wait_for(i));
    REQUIRE(block == packed_alone(chunks[i]));
    team.put_away(i);
  }
  CHECK_FALSE(team.encode_one(kAssists));  // nothing is left
}

struct Unmap {
  void operator()(PackingTeam* team) const { munmap(static_cast<void*>(team), sizeof *team); }
};
using Team = std::unique_ptr<PackingTeam, Unmap>;

std::atomic<bool> is_away, may_go_on;

void stay_until_let_go(int) {
  is_away = true;
  while (!may_go_on) usleep(1000);
  is_away = false;
}

struct LetGo {
  ~LetGo() { may_go_on = true; }
};

[[noreturn]] void end_this_thread(int) {
  for (;;) syscall(SYS_exit, 0);
}

// --- what is in the log --------------------------------------------------------------------------

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

template <typename Condition>
bool happens(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    usleep(1000);
  }
  return true;
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

}  // namespace

TEST_CASE("another thread packs where the ring stays full and a core is free, and no other") {
  CHECK(next_assistants(0, 7, Demand::full, three_busy(4)) == 1);
  CHECK(next_assistants(0, 7, Demand::full, three_busy(3)) == 0);  // none is free
  CHECK(next_assistants(0, 7, Demand::full, three_busy(0)) == 0);  // nor where that is not known
  CHECK(next_assistants(1, 7, Demand::full, three_busy(3)) == 1);
  CHECK(next_assistants(1, 1, Demand::full, three_busy(64)) == 1);  // as many as the user allows
  CHECK(next_assistants(0, 7, Demand::middling, three_busy(64)) == 0);
  CHECK(next_assistants(2, 7, Demand::middling, three_busy(64)) == 2);
  CHECK(next_assistants(2, 7, Demand::small, three_busy(64)) == 0);
  CoreUse shared = three_busy(64);
  shared.turns_cpu = kLook * 8 / 10;  // others use the cores, too
  CHECK(next_assistants(0, 7, Demand::full, shared) == 0);
  CHECK(next_assistants(2, 7, Demand::full, shared) == 1);
  CoreUse late = three_busy(64);
  late.waited = kLook * 2 / 10;  // it has all of a core in its turns, and they begin late
  CHECK(next_assistants(0, 7, Demand::full, late) == 0);
  CHECK(next_assistants(2, 7, Demand::full, late) == 1);
}

TEST_CASE("the time since the last look decides, and a ring that was full at both") {
  WorkShare share{};
  share.allow(7);
  std::uint64_t looks = 1000;  // the clocks began long before
  const auto look = [&](std::uint64_t waiting) {
    share.add_turn(kLook / 2, kLook / 2);
    share.add_turn(kLook / 4, kLook / 4);
    ++looks;
    // Before the first look the process used eight cores, and since then three.
    return share.look({.cores = 4,
                       .wall = looks * kLook,
                       .cpu = 8 * 1000 * kLook + (looks - 1000) * 3 * kLook,
                       .waited = 0},
                      waiting, 100);
  };
  look(0);  // since whenever
  CHECK(look(100) == 0);
  CHECK(look(51) == 1);
  CHECK(look(50) == 1);  // it is not full
  CHECK(look(51) == 1);  // a burst
  CHECK(look(51) == 2);
  CHECK(look(25) == 0);
  CHECK(look(51) == 0);
  CHECK(look(51) == 1);
  share.add_turn(kLook, 0);  // who packs had no core in it
  CHECK(look(51) == 0);
  CHECK(look(51) == 1);
}

TEST_CASE("UCTRACE_HELPERS counts who packs") {
  const auto of = [](const char* value) {
    setenv("UCTRACE_HELPERS", value, 1);
    const std::uint32_t assistants = most_assistants();
    unsetenv("UCTRACE_HELPERS");
    return assistants;
  };
  CHECK(most_assistants() == 0);
  CHECK(of("") == 0);
  CHECK(of("0") == 0);
  CHECK(of("-1") == 0);
  CHECK(of("1") == 0);
  CHECK(of("3") == 2);
  CHECK(of("1000000") == kMostHelpers - 1);
}

TEST_CASE("whoever encodes which chunk, each block is that of one thread, in order") {
  const Team team(PackingTeam::make());
  REQUIRE(team != nullptr);
  constexpr std::size_t kChunks = 50;
  SUBCASE("who packs, all") {
    check_turn(*team, kChunks, [] {});
  }
  SUBCASE("another one, all that it can get") {
    check_turn(*team, kChunks, [&] {
      while (team->encode_one(kAssists)) {
      }
    });
  }
  SUBCASE("they take turns") {
    check_turn(*team, kChunks, [&] { team->encode_one(kAssists); });
  }
  SUBCASE("threads of the program, all that they can get") {
    check_turn(*team, kChunks, [&] {
      while (team->encode_in_call()) {
      }
    });
  }
  SUBCASE("any of three, any number") {
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
      check_turn(*team, kChunks, [&] {
        for (auto n = random() % 4; n > 0; --n) team->encode_one(kAssists + random() % 3);
      });
    }
  }
}

TEST_CASE("what was given in a turn that the file ended is nobody's") {
  const Team team(PackingTeam::make());
  REQUIRE(team != nullptr);
  std::vector<ChunkMemory> chunks(kDesks);
  for (std::size_t i = 0; i < kDesks; ++i) {
    fill(chunks[i], static_cast<std::uint32_t>(i + 1), 10);
    CHECK(give(*team, i, chunks[i]));
  }
  for (int i = 0; i < 5; ++i) CHECK(team->encode_one(kAssists));
  team->wait_for(0);
  team->take_back();
  CHECK_FALSE(team->encode_one(kPacks));
  check_turn(*team, 20, [&] { team->encode_one(kAssists); });
}

TEST_CASE("the chunk of a thread that was ended amid it is encoded by another one") {
  const Team team(PackingTeam::make());
  REQUIRE(team != nullptr);
  auto* memory = static_cast<ChunkMemory*>(mmap(
      nullptr, sizeof(ChunkMemory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  fill(*memory, 1, 500);
  struct sigaction before {
  }, ends{};
  ends.sa_handler = end_this_thread;
  sigaction(SIGSEGV, &ends, &before);
  std::atomic<pid_t> tid{0};
  std::atomic<std::uint32_t> number{0};
  CHECK(give(*team, 0, *memory));
  mprotect(memory, sizeof *memory, PROT_NONE);  // it ends at its first look
  std::thread([&] {
    number = team->join();
    tid = static_cast<pid_t>(syscall(SYS_gettid));
    team->encode_one(number);
  }).detach();
  CHECK(happens([&] { return tid != 0 && syscall(SYS_tgkill, getpid(), tid.load(), 0) != 0; }));
  CHECK(number == kAssists);
  CHECK(team->assisted() == 0);
  CHECK(team->threads() == 0);  // it was one
  sigaction(SIGSEGV, &before, nullptr);
  mprotect(memory, sizeof *memory, PROT_READ);
  CHECK(block_of(*team->wait_for(0)) == packed_alone(*memory));
  team->put_away(0);
  munmap(memory, sizeof *memory);
}

TEST_CASE("a thread of the program that does not come back is not waited for, until it does") {
  const Team team(PackingTeam::make());
  REQUIRE(team != nullptr);
  auto* memory = static_cast<ChunkMemory*>(mmap(
      nullptr, sizeof(ChunkMemory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  const auto& chunk = *reinterpret_cast<const ChunkHeader*>(memory->bytes);
  fill(*memory, 1, 500);
  struct sigaction before {
  }, stays{};
  stays.sa_handler = stay_until_let_go;
  sigaction(SIGSEGV, &stays, &before);
  is_away = may_go_on = false;
  CHECK(give(*team, 0, *memory));
  mprotect(memory, sizeof *memory, PROT_NONE);  // its first look ends in the handler
  std::jthread caller([&] { team->encode_in_call(); });
  const LetGo at_the_end;
  REQUIRE(happens([] { return is_away.load(); }));
  CHECK(team->wait_for(0) == nullptr);
  mprotect(memory, sizeof *memory, PROT_READ);
  CHECK(team->is_held(chunk));
  std::vector<ChunkMemory> others(kDesks + 1);
  for (std::size_t i = 1; i <= kDesks; ++i) {
    fill(others[i], static_cast<std::uint32_t>(i), 10);
    CHECK(give(*team, i, others[i]) == (i < kDesks));  // the last one's desk is that one
  }
  for (std::size_t i = 1; i < kDesks; ++i) {
    CHECK(block_of(*team->wait_for(i)) == packed_alone(others[i]));
    team->put_away(i);
  }
  team->take_back();
  CHECK(team->is_held(chunk));
  may_go_on = true;
  caller.join();
  CHECK_FALSE(team->is_held(chunk));
  check_turn(*team, 20, [] {});
  sigaction(SIGSEGV, &before, nullptr);
  munmap(memory, sizeof *memory);
}

TEST_CASE("threads that wait for a chunk pack others, and nothing is lost") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 4, kAtOnce = 100'000, kMostRounds = 2000;
  const Folder folder;
  auto* made = static_cast<std::atomic<std::uint64_t>*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(made != MAP_FAILED);
  setenv("UCTRACE_NEVER_DROP", "1", 1);
  folder.run([&] {
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
  unsetenv("UCTRACE_NEVER_DROP");
  check_whole(folder.log(), *made);
  CHECK(totals_of(folder.log()).dropped == 0);
  munmap(static_cast<void*>(made), sizeof *made);
}

namespace {

// Of a chunk that the thread has taken from its desk, which a signal handler keeps from going on.
// Every now and then one has; nullptr: not within the time.
Place* hold_one(pthread_t thread) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < give_up) {
    may_go_on = false;
    pthread_kill(thread, SIGUSR1);
    if (!happens([] { return is_away.load(); })) return nullptr;
    // Who packs first does what else there is, and then waits for 2 ms.
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

TEST_CASE("a chunk that a thread of the program is still reading is not used again") {
  if (!has_helper()) return;
  constexpr std::uint64_t kThreads = 3, kAtOnce = 10'000, kMoreChunks = 100;
  const Folder folder;
  auto* made = static_cast<std::atomic<std::uint64_t>*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(made != MAP_FAILED);
  setenv("UCTRACE_NEVER_DROP", "1", 1);
  folder.run([&] {
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
  unsetenv("UCTRACE_NEVER_DROP");
  check_whole(folder.log(), *made);
  CHECK(totals_of(folder.log()).dropped == 0);
  munmap(static_cast<void*>(made), sizeof *made);
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
  auto* chunks = static_cast<std::uint64_t*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(chunks != MAP_FAILED);
  run_shared(folder, [&] {
    const bool there = have_assistants();
    *chunks = record_until_assisted();
    return there && *chunks != 0;
  });
  check_whole(folder.log(), *chunks * kRecordsOfChunk);
  munmap(chunks, sizeof *chunks);
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
