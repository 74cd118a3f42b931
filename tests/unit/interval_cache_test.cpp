// The interval cache: what is found at an address while others change the table.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "device-attributor/attributor.hpp"

namespace {

using namespace uctrace::gpu;

const auto kIgnore = [](const Interval&) {};

Interval interval(std::uintptr_t begin, std::uintptr_t end, MemoryId memory) {
  return {begin, end, memory, memory};
}

// 0: nothing is there.
MemoryId at(const IntervalCache& cache, std::uintptr_t address) {
  Interval found;
  return cache.find(address, found) ? found.memory : 0;
}

}  // namespace

TEST_CASE("interval cache: an address is found in its interval alone") {
  const auto cache = std::make_unique<IntervalCache>();
  CHECK(at(*cache, 100) == 0);
  CHECK(cache->insert(interval(100, 200, 20), kIgnore) == 20);
  CHECK(cache->insert(interval(300, 400, 21), kIgnore) == 21);
  CHECK(cache->insert(interval(200, 300, 22), kIgnore) == 22);
  CHECK(at(*cache, 99) == 0);
  CHECK(at(*cache, 100) == 20);
  CHECK(at(*cache, 199) == 20);
  CHECK(at(*cache, 200) == 22);
  CHECK(at(*cache, 399) == 21);
  CHECK(at(*cache, 400) == 0);
}

TEST_CASE("interval cache: what is overlapped goes, what is the same stays") {
  const auto cache = std::make_unique<IntervalCache>();
  std::vector<MemoryId> gone;
  const auto note = [&](const Interval& one) { gone.push_back(one.memory); };
  for (const MemoryId i : {0u, 1u, 2u, 3u}) {
    cache->insert(interval(100 * i, 100 * i + 100, 20 + i), note);
  }
  CHECK(cache->insert(interval(150, 250, 30), note) == 30);
  CHECK(gone == std::vector<MemoryId>{21, 22});
  CHECK(at(*cache, 120) == 0);
  CHECK(at(*cache, 350) == 23);
  Interval again = interval(150, 250, 31);
  again.buffer_id = 30;
  CHECK(cache->insert(again, note) == 30);
  CHECK(cache->forget(0, 160, note));
  CHECK(gone == std::vector<MemoryId>{21, 22, 20, 30});
  CHECK(at(*cache, 350) == 23);
}

TEST_CASE("interval cache: a full one gives up another for what is new, and so all in turn") {
  const auto cache = std::make_unique<IntervalCache>();
  std::vector<MemoryId> gone;
  const auto note = [&](const Interval& one) { gone.push_back(one.memory); };
  const auto last = static_cast<MemoryId>(2 * IntervalCache::kMost);
  for (MemoryId i = 1; i <= last; ++i) {
    CHECK(cache->insert(interval(10 * i, 10 * i + 10, i), note) == i);
    CHECK(at(*cache, 10 * i) == i);
  }
  CHECK(gone.size() == IntervalCache::kMost);
  CHECK(std::set(gone.begin(), gone.end()).size() == gone.size());
  unsigned there = 0;
  for (MemoryId i = 1; i <= last; ++i) there += at(*cache, 10 * i + 9) == i;
  CHECK(there == IntervalCache::kMost);
}

TEST_CASE("interval cache: one is forgotten only as long as it is the same") {
  const auto cache = std::make_unique<IntervalCache>();
  cache->insert(interval(100, 200, 20), kIgnore);
  cache->forget_one(interval(100, 200, 21), kIgnore);
  CHECK(at(*cache, 100) == 20);
  cache->forget_one(interval(100, 200, 20), kIgnore);
  CHECK(at(*cache, 100) == 0);
}

TEST_CASE(
    "interval cache: readers see an interval as it was written while others change the table") {
  const auto cache = std::make_unique<IntervalCache>();
  constexpr std::uintptr_t kIntervals = 64;
  std::atomic<bool> over{false};
  std::atomic<unsigned> wrong{0}, found{0};
  const auto read = [&] {
    for (std::uintptr_t i = 0; !over.load(); ++i) {
      const std::uintptr_t number = i % kIntervals;
      Interval one;
      if (!cache->find(1000 * number + 500, one)) continue;
      ++found;
      wrong += one.begin != 1000 * number || one.end != one.begin + 1000 ||
               one.memory != one.buffer_id || one.memory % kIntervals != number;
    }
  };
  std::thread reader(read);
  for (std::uintptr_t round = 1; round < 2000 || found.load() < 100; ++round) {
    const std::uintptr_t number = (round * 7) % kIntervals;
    const auto memory = static_cast<MemoryId>(round * kIntervals + number);
    cache->insert(interval(1000 * number, 1000 * number + 1000, memory), kIgnore);
    if (round % 3 == 0) cache->forget(1000 * number, 1000 * number + 1, kIgnore);
  }
  over = true;
  reader.join();
  CHECK(wrong == 0);
}
