// Where memory is: the meaning of ids and addresses at each time.
#include "log-merger/memory/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/device_builder.hpp"

namespace uctrace::merge {
namespace {

using log::DeviceMemoryKind;
using log::Stream;
using log::UcpFunction;
using log::test::LogBuilder;
using test::add_driver;
using test::add_gpu;
using test::add_memory;
using test::JobBuilder;
using test::on_gpu;

constexpr MemoryPlace kUnknownPlace{};

TEST_CASE("without a driver all memory is the host's; whether there was one must be known") {
  LogBuilder builder;
  SUBCASE("none") {
    const ProcessLog log(builder.read());
    CHECK(memory_place(log, log::kMemoryNotAsked, 5) == kHostPlace);
    CHECK(place_without_operation(log) == kHostPlace);
    CHECK(place_at(log, 0x1000, {5, 6, std::nullopt}) == kHostPlace);
  }
  SUBCASE("one was loaded, and never asked") { builder.page.gpu_driver = 1; }
  SUBCASE("the process was killed, perhaps before it could tell") { builder.page.closed = 0; }
  if (builder.page.gpu_driver != 0 || builder.page.closed == 0) {
    const ProcessLog log(builder.read());
    CHECK(memory_place(log, log::kMemoryNotAsked, 5) == kUnknownPlace);
    CHECK(place_without_operation(log) == kUnknownPlace);
    CHECK(place_at(log, 0x1000, {5, 6, 0}) == kUnknownPlace);
  }
}

TEST_CASE("a driver that was found late") {
  JobBuilder builder(1);
  add_driver(builder, 0, 100, 50);
  const ProcessLog& log = builder.log(0);
  CHECK(memory_place(log, log::kMemoryNotAsked, 50) == kHostPlace);
  CHECK(memory_place(log, log::kMemoryNotAsked, 51) == kUnknownPlace);
  CHECK(memory_place(log, log::kMemoryNotAsked, 100) == kUnknownPlace);
  CHECK(memory_place(log, log::kHostMemory, 60) == kHostPlace);
  CHECK(place_without_operation(log) == kUnknownPlace);
}

TEST_CASE("the host's memory by one driver, while another one was not found yet, may be its own") {
  JobBuilder builder(1);
  add_driver(builder, 0, 20, 10);
  add_driver(builder, 0, 100, 50);
  const ProcessLog& log = builder.log(0);
  // Two records of one driver are a fork child's, or a damaged log's: they hide nothing.
  CHECK(memory_place(log, log::kHostMemory, 60) == kHostPlace);
  builder.log(0).devices.drivers[1].head.a = static_cast<std::uint16_t>(log::Vendor::rocm);
  CHECK(memory_place(log, log::kHostMemory, 50) == kHostPlace);
  CHECK(memory_place(log, log::kHostMemory, 51) == kUnknownPlace);
  CHECK(memory_place(log, log::kHostMemory, 100) == kUnknownPlace);
  CHECK(memory_place(log, log::kHostMemory, 101) == kHostPlace);
  CHECK(memory_place(log, log::kHostMemory, 15) == kHostPlace);  // the first one's
  CHECK(memory_place(log, log::kMemoryNotAsked, 10) == kHostPlace);
  CHECK(memory_place(log, log::kMemoryNotAsked, 11) == kUnknownPlace);
}

TEST_CASE("what an operation names is what it was defined as, never host for want of an answer") {
  JobBuilder builder(1);
  add_driver(builder, 0);
  const Index gpu = add_gpu(builder, "0000:10:00.0");
  log::MemoryId id = log::kFirstDeviceMemory;
  const auto defined = [&](DeviceMemoryKind kind) {
    add_memory(builder, 0, id, gpu, 0x1000, 16, kind);
    return memory_place(builder.log(0), id++, 5);
  };
  CHECK(defined(DeviceMemoryKind::device) == on_gpu(gpu));
  CHECK(defined(DeviceMemoryKind::pool) == on_gpu(gpu));
  CHECK(defined(DeviceMemoryKind::mapped) == on_gpu(gpu));
  CHECK(defined(DeviceMemoryKind::imported) == on_gpu(gpu));
  CHECK(defined(DeviceMemoryKind::managed) == MemoryPlace{MemoryKind::managed, gpu});
  CHECK(defined(DeviceMemoryKind::mapped_host) == kHostPlace);
  CHECK(defined(DeviceMemoryKind::pinned) == kHostPlace);
  for (const log::MemoryId other : {log::kUnknownMemory, log::kSeveralMemories, id}) {
    CHECK(memory_place(builder.log(0), other, 5) == kUnknownPlace);
  }
}

// One address: of GPU a from 10 to 100, of GPU b from 200 on.
struct Reused {
  JobBuilder builder{1};
  Index a, b;

  Reused() {
    add_driver(builder, 0);
    a = add_gpu(builder, "0000:10:00.0");
    b = add_gpu(builder, "0000:20:00.0");
    add_memory(builder, 0, 16, a, 0x1000, 0x100, DeviceMemoryKind::device, {10, 100});
    add_memory(builder, 0, 17, b, 0x1000, 0x100, DeviceMemoryKind::device, {200});
  }
  MemoryPlace at(std::uint64_t address, const Use& use) const {
    return place_at(builder.job.logs[0], address, use);
  }
};

TEST_CASE("an address that is used again is what is there at the time") {
  const Reused reused;
  CHECK(reused.at(0x1000, {50, 60, 0}) == on_gpu(reused.a));
  CHECK(reused.at(0x10ff, {300, 310, 0}) == on_gpu(reused.b));
  CHECK(reused.at(0x1000, {150, 160, 0}) == kUnknownPlace);  // neither is known to be there
  CHECK(reused.at(0x1000, {1, 5, 0}) == kUnknownPlace);      // before it was met
  CHECK(reused.at(0x1000, {50, 300, 0}) == kUnknownPlace);   // both, which cannot be
}

TEST_CASE("clocks that let open which of two was there tell nothing") {
  Reused reused;
  CHECK(reused.at(0x1000, {95, 98, 10}) == kUnknownPlace);
  CHECK(reused.at(0x1000, {80, 98, 10}) == on_gpu(reused.a));  // it was there when the use began
  CHECK(reused.at(0x1000, {205, 208, 10}) == kUnknownPlace);
  CHECK(reused.at(0x1000, {205, 211, 10}) == on_gpu(reused.b));
  CHECK(reused.at(0x1000, {50, 60, std::nullopt}) == kUnknownPlace);
  // Nothing else was ever there.
  add_memory(reused.builder, 0, 18, reused.a, 0x5000, 0x100, DeviceMemoryKind::device, {200});
  add_memory(reused.builder, 0, 19, reused.a, 0x6000, 0x100, DeviceMemoryKind::device, {200, 300});
  CHECK(reused.at(0x5010, {50, 60, std::nullopt}) == on_gpu(reused.a));
  CHECK(reused.at(0x6010, {50, 60, std::nullopt}) == kUnknownPlace);  // nor was this, at its end
}

// The log of `builder`, with the memory of a Reused.
ProcessLog log_with_memory(LogBuilder& builder, const Reused& reused) {
  ProcessLog log(builder.read());
  log.devices = reused.builder.job.logs[0].devices;
  return log;
}

TEST_CASE("where definitions may be missing, neither the host is told nor what never ended") {
  const Reused reused;
  constexpr auto kDefinitions = static_cast<std::size_t>(log::DropKind::definition);
  LogBuilder builder;
  std::uint64_t dropped = 0;
  SUBCASE("none is") {}
  SUBCASE("dropped") { dropped = 1; }
  SUBCASE("damaged") { builder.chunk(Stream::definitions, 0, 3); }  // the first two are missing
  ProcessLog log = log_with_memory(builder, reused);
  log.totals.dropped[kDefinitions] = dropped;
  const bool whole = dropped == 0 && !log.file.damage().any();
  CHECK(place_at(log, 0x10, {300, 310, 0}) == (whole ? kHostPlace : kUnknownPlace));
  CHECK(place_at(log, 0x1000, {300, 310, 0}) == (whole ? on_gpu(reused.b) : kUnknownPlace));
  CHECK(place_at(log, 0x1000, {50, 60, 0}) == on_gpu(reused.a));  // its end is told
}

TEST_CASE("a log that was not closed, or does not hold all of UCP, does not tell of the host") {
  const Reused reused;
  LogBuilder builder;
  builder.lanes.resize(1);
  log::Fault fault{};
  fault.head.a = static_cast<std::uint16_t>(log::FaultCode::self_check_failed);
  fault.layer = log::Layer::uct;
  SUBCASE("not closed") { builder.page.closed = 0; }
  SUBCASE("a layer that is off") { fault.layer = log::Layer::ucp; }
  SUBCASE("an event was dropped") { builder.lanes[0].counters.dropped[0] = 1; }
  ProcessLog log = log_with_memory(builder, reused);
  log.faults.emplace_back(fault, "");
  CHECK(place_at(log, 0x10, {300, 310, 0}) == kUnknownPlace);
  CHECK(place_at(log, 0x1000, {300, 310, 0}) == on_gpu(reused.b));
}

TEST_CASE("what no driver claimed is the host's, if all that they said is known") {
  Reused reused;
  CHECK(reused.at(0xfff, {50, 60, 0}) == kHostPlace);
  CHECK(reused.at(0x1100, {50, 60, std::nullopt}) == kHostPlace);
  SUBCASE("a question was not answered") { reused.builder.log(0).totals.memory_unknown = 1; }
  SUBCASE("of some memory the extent is not known") {
    add_memory(reused.builder, 0, 18, reused.a, 0x800000, 0, DeviceMemoryKind::mapped);
  }
  CHECK(reused.at(0xfff, {50, 60, 0}) == kUnknownPlace);
}

TEST_CASE("what lies at an address is found among all, also inside of what reaches further") {
  JobBuilder builder(1);
  add_driver(builder, 0);
  add_memory(builder, 0, 16, kNone, 0x1000, 0x1000);
  add_memory(builder, 0, 17, kNone, 0x1100, 0x10);
  add_memory(builder, 0, 18, kNone, 0x1200, 0x10);
  add_memory(builder, 0, 19, kNone, 0x3000, 0x10);
  const auto at = [&](std::uint64_t address) {
    std::set<log::MemoryId> ids;
    const Devices& devices = builder.log(0).devices;
    for (const KnownMemory* memory : devices.at(address, INT64_MIN, INT64_MAX)) {
      ids.insert(memory->id);
    }
    CHECK(devices.ever_at(address) == !ids.empty());
    const KnownMemory* only = devices.only_at(address);
    CHECK((only == nullptr ? 0 : only->id) == (ids.size() == 1 ? *ids.begin() : 0));
    return ids;
  };
  using Ids = std::set<log::MemoryId>;
  CHECK(at(0xfff) == Ids{});
  CHECK(at(0x1000) == Ids{16});
  CHECK(at(0x110f) == Ids{16, 17});
  CHECK(at(0x1fff) == Ids{16});
  CHECK(at(0x2000) == Ids{});
  CHECK(at(0x3000) == Ids{19});
  CHECK(at(UINT64_MAX) == Ids{});
}

TEST_CASE("among all that lay at an address, and around it, each is found as by looking at all") {
  JobBuilder builder(1);
  std::minstd_rand random(7);
  std::vector<KnownMemory> all;
  for (log::MemoryId id = 16; id < 300; ++id) {
    KnownMemory memory;
    memory.id = id;
    memory.begin = random() % 40 * 4;
    memory.end = memory.begin + random() % 5 * (random() % 9 == 0 ? 20 : 2);
    memory.from_ns = static_cast<std::int64_t>(random() % 100);
    if (random() % 8 != 0) memory.alive_ns = memory.from_ns + static_cast<int>(random() % 20);
    all.push_back(memory);
  }
  Devices devices;
  devices.set_memory(all);
  using Ids = std::set<log::MemoryId>;
  for (std::uint64_t address = 0; address < 260; ++address) {
    Ids ever;
    for (const std::int64_t begin : {0, 30, 90}) {
      for (const std::int64_t end : {begin, begin + 7}) {
        Ids naive, found;
        for (const KnownMemory& memory : all) {
          if (address < memory.begin || address >= memory.end) continue;
          ever.insert(memory.id);
          if (memory.from_ns <= end && memory.alive_ns >= begin) naive.insert(memory.id);
        }
        for (const KnownMemory* memory : devices.at(address, begin, end)) found.insert(memory->id);
        CHECK(found == naive);
      }
    }
    CHECK(devices.ever_at(address) == !ever.empty());
    CHECK((devices.only_at(address) != nullptr) == (ever.size() == 1));
  }
}

// 100,000 uses of one address: were each looked for among all, the test would take minutes.
TEST_CASE("what came and went at one address is found by its time") {
  constexpr std::uint32_t kTimes = 100'000;
  std::vector<KnownMemory> all;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    KnownMemory memory;
    memory.id = 16 + i;
    memory.begin = 0x1000;
    memory.end = 0x1100 + i % 3;
    memory.from_ns = 10 * std::int64_t{i};
    memory.alive_ns = memory.from_ns + 5;
    all.push_back(memory);
  }
  KnownMemory around;  // reaches behind all
  around.id = 15 + 2 * kTimes;
  around.begin = 0x10;
  around.end = 0x20;
  all.push_back(around);
  Devices devices;
  devices.set_memory(std::move(all));
  std::size_t right = 0;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    const std::int64_t at = 10 * std::int64_t{i} + 2;
    const auto found = devices.at(0x10ff, at, at + 1);
    right += found.size() == 1 && found[0]->id == 16 + i;
  }
  CHECK(right == kTimes);
}

TEST_CASE("one-sided: the target's memory is what it was when the operation reached it") {
  Reused reused;
  JobBuilder builder(2);
  builder.job.run.gpus = reused.builder.job.run.gpus;
  builder.log(1).devices = reused.builder.log(0).devices;
  add_driver(builder, 0);
  for (const std::uint64_t tick : {50, 300}) {
    const UcpIndex put = builder.one_sided(UcpFunction::put_nbx, 0, 1, 0x1010, 8, tick);
    builder.ucp(put).memory.own = log::kHostMemory;
    const UcpIndex get = builder.one_sided(UcpFunction::get_nbx, 0, 1, 0x2000, 8, tick + 1);
    builder.ucp(get).memory.own = log::kUnknownMemory;
  }
  build_rows(builder.job);
  const std::vector<Message>& messages = builder.job.run.messages;
  REQUIRE(messages.size() == 4);
  CHECK(messages[0].src_place() == kHostPlace);
  CHECK(messages[0].dst_place() == on_gpu(reused.a));
  CHECK(messages[1].src_place() == kHostPlace);
  CHECK(messages[1].dst_place() == kUnknownPlace);
  CHECK(messages[2].dst_place() == on_gpu(reused.b));
}

TEST_CASE("nothing of an empty message lies on a device, nor what a handler is given at first") {
  JobBuilder builder(2);
  for (const int process : {0, 1}) add_driver(builder, process);
  builder.pair(builder.send(0, 1, 7, 0, 1), builder.receive(1, 7, 0, 1));
  const UcpIndex sent = builder.active_send(0, 1, 3, 8, 8, 2);  // a header, and no data
  const UcpIndex called = builder.handler_call(1, 3, 8, 8, 3);
  builder.pair(sent, called);
  builder.pair(builder.send(0, 1, 8, 100, 4), builder.receive(1, 8, 100, 4));
  const Index gpu = add_gpu(builder, "0000:10:00.0");
  add_memory(builder, 1, 16, gpu, 0x1000, 100);
  const UcpIndex offered = builder.receive(1, 9, 0, 6);  // of more than was sent
  builder.ucp(offered).bytes = 100;
  builder.ucp(offered).memory.own = 16;
  builder.pair(builder.send(0, 1, 9, 0, 6), offered);
  build_rows(builder.job);
  const std::vector<Message>& messages = builder.job.run.messages;
  REQUIRE(messages.size() == 4);
  for (const std::size_t i : {0u, 1u, 3u}) {
    CHECK(messages[i].src_place() == kHostPlace);
    CHECK(messages[i].dst_place() == kHostPlace);
  }
  CHECK(messages[2].src_place() == kUnknownPlace);  // it was not asked
}

TEST_CASE("an active message whose data its handler asks for goes to where that is asked to") {
  JobBuilder builder(2);
  for (const int process : {0, 1}) add_driver(builder, process);
  const Index gpu = add_gpu(builder, "0000:10:00.0");
  add_memory(builder, 1, 16, gpu, 0x1000, 100);
  const UcpIndex called = builder.handler_call(1, 3, 8, 108, 3);
  builder.pair(builder.active_send(0, 1, 3, 8, 108, 2), called);
  const UcpIndex data = builder.flush(UcpFunction::am_recv_data_nbx, 1, 4, 5);
  builder.ucp(data).data_of = called;
  builder.ucp(data).bytes = 100;
  builder.ucp(data).memory.own = 16;
  build_rows(builder.job);
  REQUIRE(builder.job.run.messages.size() == 1);
  CHECK(builder.job.run.messages[0].dst_place() == on_gpu(gpu));
}

}  // namespace
}  // namespace uctrace::merge
