// The history of allocations, reported by the test instead of a plug-in: it is in the log with its
// own times, and operations name it without a query to the driver.
#include "device-attributor/history.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/sanitizers/stand_in.hpp"
#include "tests/sanitizers/stand_in_gpu.hpp"
#include "tests/sanitizers/traffic.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

using gpu::test::kPartBytes;
using gpu::test::part;

// What a log says of it.
struct History {
  std::map<MemoryId, DeviceMemory> met;
  std::map<MemoryId, DeviceMemoryEnd> over;
  std::vector<UcpOperationView> sends;
  std::vector<Fault> faults;
  std::string by;
  std::uint64_t driver_tick = 0, queries = 0;

  explicit History(const LogFile& log) : queries(Found(log).counted.memory_queries) {
    CHECK_FALSE(log.damage().any());
    log.for_each_record(Stream::definitions, [&](std::uint16_t, const auto& view) { take(view); });
    log.for_each_record(Stream::events, [&](std::uint16_t, const auto& view) { take(view); });
  }

  void take(const DeviceMemoryView& view) { met[view.id()] = view.r; }
  void take(const DeviceMemoryEndView& view) { over[view.id()] = view.r; }
  void take(const GpuDriverView& view) { driver_tick = view.r.tick; }
  void take(const TextView& view) {
    if (view.kind() == TextKind::gpu_history) by = view.text;
  }
  void take(const FaultView& view) {
    if (view.r.layer == Layer::gpu) faults.push_back(view.r);
  }
  void take(const UcpOperationView& view) {
    if (family_of(view.function()) == UcpFamily::tag_send) sends.push_back(view);
  }
  template <typename Other>
  void take(const Other&) {}
};

void send(Messenger& messenger, const void* buffer) {
  const ucp_request_param_t defaults{};
  Messenger::wait(ucp_tag_send_nbx(messenger.endpoint, buffer, 8, 0, &defaults));
}

void tell(uctrace_device_event_type type, const void* begin = nullptr, const char* text = nullptr) {
  struct uctrace_device_event event {};
  event.version = UCTRACE_DEVICE_EVENT_VERSION;
  event.type = type;
  event.begin = reinterpret_cast<std::uint64_t>(begin);
  event.bytes = type == UCTRACE_MEMORY_ALLOCATED ? kPartBytes : 0;
  event.kind = UCTRACE_MEMORY_POOL;
  event.vendor = UCTRACE_VENDOR_CUDA;  // the stand-in's
  event.text = text;
  uctrace_device_event(&event);
}

TEST_CASE("history: it tells all that is allocated, with the times of that") {
  const Folder folder;
  folder.run_unstarted([] {
    tell(UCTRACE_MEMORY_ALLOCATED, part(9));  // before it begins: nobody's
    tell(UCTRACE_HISTORY_BEGINS, nullptr, "this test");
    tell(UCTRACE_MEMORY_ALLOCATED, part(9));
    tell(UCTRACE_MEMORY_ALLOCATED, part(10));
    tell(UCTRACE_MEMORY_FREED, part(10));
    if (!start()) return false;
    stand_in_start();
    {
      Messenger messenger;
      send(messenger, part(9));
      in_threads([&](unsigned thread) {
        for (unsigned i = 0; i < kRounds; ++i) {
          gpu::test::allocate(thread);
          tell(UCTRACE_MEMORY_ALLOCATED, part(thread));
          stand_in_memory_event(true, part(thread), kPartBytes);  // UCX's hooks are around it
          send(messenger, part(thread) + i);
          if (i % 2 == 0) stand_in_memory_event(false, part(thread), kPartBytes);
          tell(UCTRACE_MEMORY_FREED, part(thread));
          gpu::test::release(thread);
        }
      });
      stand_in_stop();
    }
    return true;
  });
  const LogFile log = folder.log();
  const History history(log);
  CHECK(history.by == "this test");
  // Threads that change the table concurrently for too long lose entries, which is reported.
  for (const Fault& fault : history.faults) CHECK(fault.value == 1);
  std::size_t wrong = 0, told = 0;
  for (const UcpOperationView& view : history.sends) {
    const auto found = history.met.find(view.memory.own);
    if (found == history.met.end()) continue;  // its definition was dropped
    const DeviceMemory& met = found->second;
    const unsigned number = gpu::test::part_at(reinterpret_cast<void*>(view.r.buffer));
    wrong += met.begin != reinterpret_cast<std::uint64_t>(part(number));
    // While another thread changes the table for long nothing is found, and the driver is queried.
    if ((met.flags & DeviceMemory::kAllocated) == 0) continue;
    ++told;
    wrong += met.bytes != kPartBytes || met.kind != DeviceMemoryKind::pool ||
             met.tick > view.r.start_tick;
    const auto over = history.over.find(view.memory.own);
    if (over != history.over.end() &&
        static_cast<MemoryEnd>(over->second.head.a) == MemoryEnd::freed) {
      wrong += over->second.tick < view.r.start_tick + view.r.duration_ticks ||
               over->second.alive_tick != over->second.tick;
    }
    if (number == 9) CHECK(met.tick < history.driver_tick);
  }
  CHECK(wrong == 0);
  CHECK(told > 0);
  CHECK(history.sends.size() + log.dropped_records() >= kThreads * kRounds + 1);
}

TEST_CASE("history: of what it told the driver is asked nothing") {
  const Folder folder;
  folder.run_unstarted([] {
    tell(UCTRACE_HISTORY_BEGINS, nullptr, "this test");
    tell(UCTRACE_MEMORY_ALLOCATED, part(9));
    if (!start()) return false;
    stand_in_start();
    {
      Messenger messenger;
      for (unsigned i = 0; i < 10; ++i) send(messenger, part(9) + i);
      stand_in_stop();
    }
    return true;
  });
  const History history(folder.log());
  CHECK(history.sends.size() == 10);
  CHECK(history.met.size() == 1);
  CHECK(history.queries == 0);
}

TEST_CASE("history: that it is refused is told, also before the log begins") {
  for (const bool early : {true, false}) {
    const Folder folder;
    folder.run_unstarted([early] {
      if (early) tell(UCTRACE_HISTORY_REFUSED, nullptr, "another tool");
      if (!start()) return false;
      stand_in_start();
      {
        Messenger messenger;
        if (!early) tell(UCTRACE_HISTORY_REFUSED, nullptr, "another tool");
        tell(UCTRACE_HISTORY_BEGINS, nullptr, "too late");
        stand_in_stop();
      }
      return true;
    });
    const LogFile log = folder.log();
    const History history(log);
    CHECK(history.by.empty());
    REQUIRE(history.faults.size() == 1);
    CHECK(static_cast<FaultCode>(history.faults[0].head.a) == FaultCode::gpu_history_refused);
  }
}

}  // namespace
}  // namespace uctrace::log::test
