// Which memory an address is in, with a driver controlled by the test.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/scripted_driver.hpp"

namespace {

using namespace uctrace::gpu;
using namespace uctrace::gpu::scripted;
namespace log = uctrace::log;

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
  CHECK(memory(1000) == first);  // confirmed by the driver that knows it
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
