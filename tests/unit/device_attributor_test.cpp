// Which memory an address is, by a driver that does as it is told, and by a history.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "device-attributor/attributor.hpp"

namespace {

using namespace uctrace::gpu;
namespace log = uctrace::log;
using log::DeviceMemoryKind;

// --- a driver that is told what is where, and notes what it is asked -----------------------------

std::map<std::uintptr_t, Answer> allocations;
unsigned queries, checks;
int failure, check_failure;
bool tells_extent, has_room;
std::vector<MemoryId> defined;
std::vector<std::size_t> extents;  // of these
std::vector<std::pair<MemoryId, MemoryEnd>> ended;
std::vector<int> failed;
unsigned given_up;

const Answer* find_allocation(std::uintptr_t address) {
  const auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return nullptr;
  const Answer& answer = std::prev(next)->second;
  return address - answer.begin < answer.bytes ? &answer : nullptr;
}

void (*meanwhile)(std::uintptr_t address) = nullptr;
Attributor* freeing;

Answer query(std::uintptr_t address) {
  ++queries;
  if (meanwhile != nullptr) meanwhile(address);
  if (failure != 0) return {.what = Answer::What::failed, .error = failure};
  const Answer* answer = find_allocation(address);
  Answer told = answer != nullptr ? *answer : Answer{.what = Answer::What::host};
  told.bytes *= tells_extent;
  return told;
}

int buffer_id(std::uintptr_t address, std::uint64_t& id) {
  ++checks;
  const Answer* answer = find_allocation(address);
  id = answer != nullptr && check_failure == 0 ? answer->buffer_id : 0;
  return check_failure;
}

constexpr Vendor kScripted{.name = log::Vendor::cuda,
                           .library = "",
                           .resolve = nullptr,
                           .version = nullptr,
                           .device_count = nullptr,
                           .describe = nullptr,
                           .query = query,
                           .buffer_id = buffer_id};

constexpr Listener kListener{
    .defined =
        [](MemoryId memory, const Answer& answer) {
          if (!has_room) return false;
          defined.push_back(memory);
          extents.push_back(answer.bytes);
          return true;
        },
    .ended = [](MemoryId memory, MemoryEnd end) { ended.emplace_back(memory, end); },
    .failed = [](int error) { failed.push_back(error); },
    .gave_up_history = [] { ++given_up; }};

struct Fixture {
  Fixture() {
    allocations.clear();
    queries = checks = 0;
    failure = check_failure = 0;
    tells_extent = has_room = true;
    given_up = 0;
    defined.clear();
    extents.clear();
    ended.clear();
    failed.clear();
    attributor->use(kScripted, kListener);
  }

  void allocate(std::uintptr_t begin, std::size_t bytes, std::uint64_t id,
                DeviceMemoryKind kind = DeviceMemoryKind::device, int device = 0) {
    allocations[begin] = {.what = Answer::What::known,
                          .kind = kind,
                          .device = device,
                          .begin = begin,
                          .bytes = bytes,
                          .buffer_id = id};
  }
  MemoryId memory(std::uintptr_t address) { return attributor->memory_of(address); }

  std::unique_ptr<Attributor> attributor = std::make_unique<Attributor>();
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "memory: an allocation is asked for once, and checked at each use") {
  allocate(1000, 100, 7);
  const MemoryId first = memory(1050);
  CHECK(first >= log::kFirstDeviceMemory);
  CHECK(memory(1099) == first);
  CHECK(queries == 1);
  CHECK(checks == 1);
  CHECK(defined == std::vector<MemoryId>{first});
}

namespace {

// A second driver: what is above a limit is its own, and it has no ids.
constexpr std::uintptr_t kOther = 1 << 20;
unsigned other_queries;
int other_failure;

Answer query_other(std::uintptr_t address) {
  ++other_queries;
  if (other_failure != 0) return {.what = Answer::What::failed, .error = other_failure};
  if (address < kOther) return {.what = Answer::What::host};
  return {.what = Answer::What::known,
          .kind = DeviceMemoryKind::device,
          .device = 0,
          .begin = kOther,
          .bytes = 1000};
}

constexpr Vendor kOtherVendor{.name = log::Vendor::rocm,
                              .library = "",
                              .resolve = nullptr,
                              .version = nullptr,
                              .device_count = nullptr,
                              .describe = nullptr,
                              .query = query_other,
                              .buffer_id = nullptr};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "memory: several drivers are asked, once each, until one knows it") {
  other_queries = 0;
  other_failure = 0;
  attributor->use(kOtherVendor, kListener);
  allocate(1000, 100, 7);
  CHECK(memory(500) == log::kHostMemory);
  CHECK(queries == 1);
  CHECK(other_queries == 1);
  const MemoryId first = memory(1000);
  CHECK(other_queries == 1);
  const MemoryId second = memory(kOther + 5);
  CHECK(second != first);
  CHECK(second >= log::kFirstDeviceMemory);
  CHECK(!attributor->is_same_place(1000, kOther + 5));
  other_failure = 9;
  CHECK(memory(1000) == first);  // confirmed by the one that knows it
  CHECK(memory(500) == log::kUnknownMemory);
  failure = 8;
  CHECK(memory(kOther + 5) == log::kUnknownMemory);
  CHECK(ended.empty());
  failure = other_failure = 0;
  CHECK(memory(kOther + 5) == second);
}

TEST_CASE_FIXTURE(Fixture, "memory: beside a driver that cannot be asked nothing is the host's") {
  allocate(1000, 100, 7);
  attributor->distrust_host();
  CHECK(memory(1000) >= log::kFirstDeviceMemory);
  CHECK(memory(500) == log::kUnknownMemory);
  CHECK(failed == std::vector<int>{kUnusableDriver});
}

TEST_CASE_FIXTURE(Fixture, "memory: an address that is used again is another memory") {
  allocate(1000, 100, 7);
  const MemoryId first = memory(1000);
  allocate(1000, 50, 8, DeviceMemoryKind::pool);
  const MemoryId second = memory(1000);
  CHECK(second != first);
  CHECK(ended == std::vector{std::pair(first, MemoryEnd::replaced)});
  allocations.clear();
  CHECK(memory(1000) == log::kHostMemory);
  CHECK(ended.back() == std::pair(second, MemoryEnd::replaced));
}

TEST_CASE_FIXTURE(Fixture, "memory: of what UCX tells the end of, the end is known") {
  allocate(1000, 100, 7);
  const MemoryId first = memory(1000);
  attributor->forget(1000, 1);  // UCX may not know its length
  CHECK(ended == std::vector{std::pair(first, MemoryEnd::freed)});
  CHECK(memory(1000) != first);  // the driver has it still: it is not over before the call is
  CHECK(memory(1000) >= log::kFirstDeviceMemory);
}

TEST_CASE_FIXTURE(
    Fixture, "memory: more than there is room for is known, and defined when it is met again") {
  const unsigned last = IntervalCache::kMost + 100;
  for (unsigned i = 1; i <= last; ++i) {
    allocate(1000 * i, 100, i);
    memory(1000 * i);
  }
  CHECK(ended.size() == 100);
  CHECK(std::count(extents.begin(), extents.end(), 100) == last);
  const std::size_t before = defined.size();
  for (int round = 0; round < 100; ++round) {
    for (unsigned i = last - 10; i <= last; ++i) CHECK(memory(1000 * i) == defined[i - 1]);
  }
  CHECK(defined.size() == before);
}

TEST_CASE_FIXTURE(Fixture, "memory: a fork child asks again") {
  allocate(1000, 100, 7);
  const MemoryId first = memory(1000);
  attributor->start_anew();
  const MemoryId second = memory(1000);
  CHECK(second > first);
  CHECK(queries == 2);
  CHECK(memory(1000) == second);
  CHECK(ended.empty());
}

TEST_CASE_FIXTURE(Fixture, "memory: freed by another thread while the driver is asked") {
  allocate(1000, 100, 7);
  meanwhile = [](std::uintptr_t address) { freeing->forget(address, 1); };
  freeing = attributor.get();
  const MemoryId first = memory(1000);
  meanwhile = nullptr;
  allocations.clear();
  CHECK(first >= log::kFirstDeviceMemory);
  CHECK(memory(1000) == log::kHostMemory);
}

TEST_CASE_FIXTURE(Fixture,
                  "memory: a check that fails ends nothing, and is not the same memory for sure") {
  allocate(1000, 100, 7);
  const MemoryId first = memory(1000);
  check_failure = 700;
  CHECK(memory(1000) == log::kUnknownMemory);
  CHECK(failed == std::vector<int>{700});
  CHECK(ended.empty());
  check_failure = 0;
  CHECK(memory(1000) == first);
  allocate(2000, 100, 8, DeviceMemoryKind::mapped);
  const MemoryId mapped = memory(2000);
  failure = 999;
  CHECK(memory(2000) == log::kUnknownMemory);
  CHECK(ended.empty());
  failure = 0;
  CHECK(memory(2000) == mapped);
}

TEST_CASE_FIXTURE(Fixture,
                  "memory: what could not be noted is not known, and told again at its next use") {
  allocate(1000, 100, 7);
  has_room = false;
  CHECK(memory(1000) == log::kUnknownMemory);
  has_room = true;
  const MemoryId second = memory(1000);
  CHECK(defined == std::vector<MemoryId>{second});
  CHECK(memory(1000) == second);
  CHECK(ended.empty());
}

TEST_CASE_FIXTURE(
    Fixture, "memory: mapped memory is asked for in full, for its id may be that of the range") {
  allocate(1000, 100, 7, DeviceMemoryKind::mapped);
  const MemoryId first = memory(1000);
  CHECK(memory(1000) == first);
  CHECK(queries == 2);
  CHECK(checks == 0);
  CHECK(defined.size() == 1);
  allocate(1000, 100, 7, DeviceMemoryKind::mapped, 1);
  const MemoryId second = memory(1000);
  CHECK(second != first);
  CHECK(ended == std::vector{std::pair(first, MemoryEnd::replaced)});
  allocate(1000, 100, 7, DeviceMemoryKind::mapped_host, -1);
  CHECK(memory(1000) != second);
  allocations.clear();
  CHECK(memory(1000) == log::kHostMemory);
  CHECK(ended.size() == 3);
}

TEST_CASE_FIXTURE(Fixture,
                  "memory: of the host nothing is remembered, and a failure is not the host") {
  CHECK(memory(5000) == log::kHostMemory);
  CHECK(memory(5000) == log::kHostMemory);
  CHECK(queries == 2);
  failure = 700;
  CHECK(memory(5000) == log::kUnknownMemory);
  CHECK(failed == std::vector<int>{700});
  failure = 0;
  allocate(5000, 10, 9);
  CHECK(memory(5000) >= log::kFirstDeviceMemory);
}

TEST_CASE_FIXTURE(Fixture,
                  "memory: whose extent the driver does not tell is known at one address") {
  allocate(1000, 100, 7);
  tells_extent = false;
  const MemoryId first = memory(1000);
  CHECK(first >= log::kFirstDeviceMemory);
  CHECK(memory(1000) == first);
  CHECK(memory(1001) != first);
  CHECK(extents == std::vector<std::size_t>{0, 0});
  CHECK(memory(1000) == first);
}

TEST_CASE_FIXTURE(Fixture, "memory: of that without an extent there is no end of definitions") {
  allocate(1000, 10'000'000, 7);
  tells_extent = false;
  for (unsigned i = 0; i < Attributor::kMostWithoutExtent + 100; ++i) memory(1000 + i);
  CHECK(defined.size() == Attributor::kMostWithoutExtent);
  CHECK(memory(1'000'000) == log::kUnknownMemory);
  CHECK(failed.back() == kTooManyWithoutExtent);
}

TEST_CASE_FIXTURE(Fixture,
                  "memory: an extent that does not hold the address, or has no end, is none") {
  allocations[1000] = {.what = Answer::What::known,
                       .kind = DeviceMemoryKind::device,
                       .begin = 1000,
                       .bytes = UINTPTR_MAX - 500,
                       .buffer_id = 3};
  CHECK(memory(2000) >= log::kFirstDeviceMemory);
  CHECK(extents == std::vector<std::size_t>{0});
}

namespace {

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
  const MemoryId second = attributor->allocated(told(1050, 100, 8));  // a free that was not told
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
  early->memory_of(5000);  // which is of no history
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
      // While the table is being changed it is asked for, and is the host's to this driver.
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

TEST_CASE_FIXTURE(Fixture, "memory: what has no id is asked for in full at each use") {
  allocate(1000, 100, 0);
  const MemoryId first = memory(1000);
  CHECK(memory(1000) == first);
  CHECK(checks == 0);
  CHECK(queries == 2);
  allocate(1000, 100, 0, DeviceMemoryKind::device, 1);
  const MemoryId second = memory(1000);
  CHECK(second != first);
  allocations.clear();
  CHECK(memory(1000) == log::kHostMemory);
  CHECK(ended ==
        std::vector{std::pair(first, MemoryEnd::replaced), std::pair(second, MemoryEnd::replaced)});
}

TEST_CASE_FIXTURE(Fixture, "memory: two of one kind on one device are in the same place") {
  allocate(1000, 100, 1);
  allocate(2000, 100, 2);
  allocate(3000, 100, 3, DeviceMemoryKind::device, 1);
  allocate(4000, 100, 4, DeviceMemoryKind::managed);
  for (const std::uintptr_t address : {1000u, 2000u, 3000u, 4000u}) memory(address);
  CHECK(attributor->is_same_place(1000, 2050));
  CHECK_FALSE(attributor->is_same_place(1000, 3000));
  CHECK_FALSE(attributor->is_same_place(1000, 4000));
  CHECK_FALSE(attributor->is_same_place(1000, 5000));
}

TEST_CASE_FIXTURE(Fixture, "memory: where it ends is known of what was found") {
  allocate(1000, 100, 7);
  CHECK(attributor->end_of(1050) == 0);
  memory(1050);
  CHECK(attributor->end_of(1050) == 1100);
  CHECK(attributor->end_of(1100) == 0);
  tells_extent = false;
  allocate(2000, 100, 8);
  memory(2050);
  CHECK(attributor->end_of(2050) == 0);  // of it this address alone is known
}

TEST_CASE_FIXTURE(Fixture, "memory: an id that several may share confirms none of them") {
  for (const auto kind : {DeviceMemoryKind::pool, DeviceMemoryKind::pinned}) {
    allocate(1000, 100, 7, kind);
    const MemoryId first = memory(1000);
    CHECK(memory(1000) == first);
    allocate(1000, 100, 7, kind, 1);
    CHECK(memory(1000) != first);
  }
}
