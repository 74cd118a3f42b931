// Which memory an address is, by a history of allocations and frees.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/scripted_driver.hpp"

namespace {

using namespace uctrace::gpu;
using namespace uctrace::gpu::scripted;
namespace log = uctrace::log;

// As the history tells it.
Interval told(std::uintptr_t begin, std::size_t bytes, std::uint64_t tick,
              DeviceMemoryKind kind = DeviceMemoryKind::device) {
  return {.begin = begin,
          .end = begin + bytes,
          .buffer_id = 0,
          .memory = log::kMemoryNotAsked,
          .kind = kind,
          .device = 3,
          .allocated_tick = tick};
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "history: what it told is known without a question") {
  const MemoryId first = attributor->allocated(told(1000, 100, 7, DeviceMemoryKind::pool));
  CHECK(first >= log::kFirstDeviceMemory);
  CHECK(memory(1000) == first);
  CHECK(memory(1099) == first);
  CHECK(queries == 0);
  CHECK(checks == 0);
  CHECK(memory(1100) == log::kHostMemory);
  attributor->forget(1000, 1);
  CHECK(ended == std::vector{std::pair(first, MemoryEnd::freed)});
  CHECK(memory(1000) == log::kHostMemory);
}

TEST_CASE_FIXTURE(Fixture, "history: an address that is used again is another memory") {
  const MemoryId first = attributor->allocated(told(1000, 100, 7));
  const MemoryId second = attributor->allocated(told(1050, 100, 8));  // a free that was not
                                                                      // reported
  CHECK(ended == std::vector{std::pair(first, MemoryEnd::replaced)});
  CHECK(memory(1060) == second);
  CHECK(memory(1000) == log::kHostMemory);
  const MemoryId third = attributor->allocated(told(1050, 100, 9));
  CHECK(third != second);
  CHECK(memory(1060) == third);
  CHECK(ended.back() == std::pair(second, MemoryEnd::replaced));
}

TEST_CASE_FIXTURE(Fixture, "history: what was told before anybody listened is there to be told") {
  auto early = std::make_unique<Attributor>();
  const MemoryId first = early->allocated(told(1000, 100, 7, DeviceMemoryKind::mapped));
  early->allocated(told(3000, 100, 8));
  const MemoryId last = early->allocated(told(2000, 100, 9, DeviceMemoryKind::managed));
  early->forget(3000, 1);
  early->use(kScripted, kListener);
  allocate(5000, 100, 1);
  early->memory_of(5000);  // which is in no history
  std::vector<Interval> there;
  early->each_allocated([&](const Interval& one) { there.push_back(one); });
  REQUIRE(there.size() == 2);
  CHECK(there[0].memory == first);
  CHECK(there[0].kind == DeviceMemoryKind::mapped);
  CHECK(there[0].allocated_tick == 7);
  CHECK(there[0].device == 3);
  CHECK(there[1].memory == last);
  CHECK(there[1].allocated_tick == 9);
  CHECK(ended.empty());
  CHECK(early->memory_of(1000) == first);
}

TEST_CASE_FIXTURE(Fixture,
                  "history: what was asked for makes room for it, and it is given up last") {
  allocate(500, 100, 5);
  memory(500);
  for (std::size_t i = 1; i <= IntervalCache::kMost; ++i) {
    CHECK(attributor->allocated(told(1000 * i, 100, i)) >= log::kFirstDeviceMemory);
  }
  CHECK(ended.size() == 1);
  CHECK(given_up == 0);
  const std::uintptr_t more = 1000 * (IntervalCache::kMost + 1);
  const MemoryId last = attributor->allocated(told(more, 100, 1));
  CHECK(memory(more) == last);
  CHECK(given_up == 1);
  CHECK(ended.size() == 2);
  CHECK(ended.back().second == MemoryEnd::replaced);
}

TEST_CASE_FIXTURE(Fixture, "history: threads that allocate and free do not lose each other's") {
  constexpr unsigned kThreads = 4, kRounds = 2000;
  std::atomic<unsigned> wrong{0};
  const auto work = [&](unsigned thread) {
    for (unsigned round = 1; round <= kRounds; ++round) {
      const std::uintptr_t begin = 100'000 * (thread + 1);
      const MemoryId mine = attributor->allocated(told(begin, 64, round));
      // While the table is being changed the driver is queried, which reports host memory.
      const MemoryId found = attributor->memory_of(begin + 10);
      wrong += found != mine && found != log::kHostMemory;
      attributor->forget(begin, 1);
    }
  };
  attributor->use(kScripted, kNobody);
  allocations.clear();
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
