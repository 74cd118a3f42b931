// Several threads that pack: how they share a turn.
#include "event-log/recorder/packing_team.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/held_thread.hpp"

namespace uctrace::log::test {
namespace {

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

// The block that one thread makes of it.
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

[[noreturn]] void end_this_thread(int) {
  for (;;) syscall(SYS_exit, 0);
}

}  // namespace

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

}  // namespace uctrace::log::test
