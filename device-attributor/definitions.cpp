#include "device-attributor/definitions.hpp"

#include <string.h>

#include "device-attributor/history.hpp"
#include "device-attributor/topology.hpp"
#include "event-log/format/counter_file.hpp"
#include "event-log/format/device_definitions.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::gpu {

namespace {

using log::Lane;
using log::RecordType;

// A driver, and its devices in this log, as bits by ordinal. More than a machine has.
constexpr int kMostDevices = 64;
struct Defined {
  std::atomic<const Vendor*> vendor;
  std::atomic<std::uint64_t> devices;
};
constinit Defined all_defined[kVendorCount]{};
constinit std::atomic<bool> missing_devices{false};  // some device was named but is not defined yet

// When memory was last seen alive, by its number; newer entries replace older ones. Memory without
// an entry was last seen when it was defined, which the log has.
struct Use {
  std::atomic<MemoryId> memory;
  std::atomic<std::uint64_t> tick;
};
constexpr std::size_t kUses = IntervalCache::kMost;
constinit Use uses[kUses]{};

std::uint64_t last_use_of(MemoryId memory) {
  const Use& use = uses[memory % kUses];
  const std::uint64_t tick = use.tick.load(std::memory_order_acquire);
  return use.memory.load(std::memory_order_acquire) == memory ? tick : 0;
}

// The number of a device in the log.
std::uint16_t number_of(log::Vendor vendor, int ordinal) {
  return static_cast<std::uint16_t>(place_of(vendor) * kMostDevices +
                                    static_cast<std::size_t>(ordinal) + 1);
}

// The result of a definition. A definition lost for lack of room is made again at the next need.
enum class Made : std::uint8_t { yes, unknown, lost };

void name_in_counters(std::uint16_t number, log::Vendor vendor, const log::GpuDevice& device) {
  log::CounterGpu name{.uuid = {}, .gpu_uuid = {}, .pci = device.pci};
  memcpy(name.uuid, device.uuid, sizeof name.uuid);
  memcpy(name.gpu_uuid, device.gpu_uuid, sizeof name.gpu_uuid);
  log::name_counter(log::CounterNameKind::gpu, number, static_cast<std::uint64_t>(vendor), &name,
                    sizeof name / sizeof(std::uint64_t));
}

Made define_device(Lane& lane, const Vendor& vendor, int ordinal) {
  DeviceFacts facts{};
  if (!vendor.describe(ordinal, facts)) {
    return Made::unknown;
  }
  auto* record = lane.define<log::GpuDevice>();
  if (record == nullptr) {
    return Made::lost;
  }
  record->tick = log::now();
  memcpy(record->uuid, facts.uuid, sizeof record->uuid);
  memcpy(record->gpu_uuid, facts.gpu_uuid, sizeof record->gpu_uuid);
  record->pci = {facts.pci_domain, facts.pci_bus, facts.pci_device, facts.pci_function};
  record->memory_bytes = facts.memory_bytes;
  memcpy(record->name, facts.name, strnlen(facts.name, sizeof facts.name));
  name_in_counters(number_of(vendor.name, ordinal), vendor.name, *record);
  log::publish(record, RecordType::gpu_device, sizeof *record / 8, number_of(vendor.name, ordinal),
               static_cast<std::uint32_t>(ordinal) | static_cast<std::uint32_t>(vendor.name)
                                                         << log::GpuDevice::kVendorShift);
  take_topology();
  return Made::yes;
}

// `number` is that of the device in the log, 0 if nothing is known of it. False: its definition was
// lost.
bool find_number(Lane& lane, log::Vendor name, int ordinal, std::uint16_t& number) {
  number = 0;
  if (ordinal < 0 || ordinal >= kMostDevices) {
    return true;
  }
  Defined& defined = all_defined[place_of(name)];
  const Vendor* vendor = defined.vendor.load(std::memory_order_acquire);
  if (vendor == nullptr) {
    return true;
  }
  const std::uint64_t bit = std::uint64_t{1} << ordinal;
  if ((defined.devices.load(std::memory_order_acquire) & bit) == 0 &&
      (defined.devices.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0) {
    if (const Made made = define_device(lane, *vendor, ordinal); made != Made::yes) {
      defined.devices.fetch_and(~bit, std::memory_order_acq_rel);
      return made == Made::unknown;
    }
  }
  number = number_of(name, ordinal);
  return true;
}

bool define(Lane& lane, const log::DeviceMemory& memory, std::uint16_t device, MemoryId id) {
  auto* record = lane.define<log::DeviceMemory>();
  if (record != nullptr) {
    *record = memory;
    log::publish(record, RecordType::device_memory, sizeof *record / 8, device, id);
  }
  return record != nullptr;
}

bool on_defined(MemoryId memory, const Answer& answer) {
  Lane* lane = log::lane();
  std::uint16_t device;
  return lane != nullptr && find_number(*lane, answer.vendor, answer.device, device) &&
         define(*lane,
                {.head = {},
                 .tick = log::now(),
                 .begin = answer.begin,
                 .bytes = answer.bytes,
                 .buffer_id = answer.buffer_id,
                 .kind = answer.kind,
                 .flags = 0,
                 .reserved = {}},
                device, memory);
}

// Nobody saw the end of memory that was replaced: it came after the memory was last seen.
void on_ended(MemoryId memory, MemoryEnd end) {
  Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::definition);
    return;
  }
  if (auto* record = lane->define<log::DeviceMemoryEnd>()) {
    record->tick = log::now();
    const std::uint64_t used = last_use_of(memory);
    const bool was_seen = end == MemoryEnd::freed || used > record->tick;
    record->alive_tick = was_seen ? record->tick : used;
    log::publish(record, RecordType::device_memory_end, sizeof *record / 8,
                 static_cast<std::uint16_t>(end), memory);
  }
}

// Records each of the driver's errors once per log. Entries of a parent process's log count as
// free.
void on_failed(int error) {
  constexpr std::size_t kMostErrors = 16;
  static constinit std::atomic<std::uint64_t>
      said[kMostErrors]{};  // number of the log << 32 | error
  const std::uint64_t log = log::log_number();
  const std::uint64_t mine = log << 32 | static_cast<std::uint32_t>(error);
  for (std::atomic<std::uint64_t>& one : said) {
    std::uint64_t before = one.load(std::memory_order_relaxed);
    if (before >> 32 != log &&
        one.compare_exchange_strong(before, mine, std::memory_order_relaxed)) {
      log::fault(log::Layer::gpu, log::FaultCode::gpu_query_failed, error, "");
      return;
    }
    if (before == mine) return;
  }
}

void on_asked() {
  if (Lane* lane = log::lane()) {
    lane->end_shared_tick();
    ++lane->counters().memory_queries;
  }
}

}  // namespace

std::uint16_t defined_number(log::Vendor vendor, int ordinal) {
  if (ordinal < 0 || ordinal >= kMostDevices) return 0;
  const std::uint64_t devices =
      all_defined[place_of(vendor)].devices.load(std::memory_order_acquire);
  return (devices >> ordinal & 1) != 0 ? number_of(vendor, ordinal) : 0;
}

constinit const Listener kListener{.defined = on_defined,
                                   .ended = on_ended,
                                   .failed = on_failed,
                                   .asked = on_asked,
                                   .gave_up_history = note_incomplete_history};

constinit const Listener kCountingListener{
    .defined =
        [](MemoryId, const Answer& answer) {
          Lane* lane = log::lane();
          std::uint16_t device;
          return lane != nullptr && find_number(*lane, answer.vendor, answer.device, device);
        },
    .ended = [](MemoryId, MemoryEnd) {},
    .failed = on_failed,
    .asked = on_asked,
    .gave_up_history = note_incomplete_history};

// Inside a function of the driver, which cannot be asked about its devices there.
bool define_allocated(const Interval& allocation) {
  Lane* lane = log::lane();
  if (lane == nullptr) {
    return false;
  }
  std::uint16_t number = 0;
  if (allocation.device >= 0 && allocation.device < kMostDevices) {
    number = number_of(allocation.vendor, allocation.device);
    const std::uint64_t bit = std::uint64_t{1} << allocation.device;
    const Defined& defined = all_defined[place_of(allocation.vendor)];
    if ((defined.devices.load(std::memory_order_relaxed) & bit) == 0) {
      missing_devices.store(true, std::memory_order_relaxed);
    }
  }
  if (log::counts_only()) return true;
  return define(*lane,
                {.head = {},
                 .tick = allocation.allocated_tick,
                 .begin = allocation.begin,
                 .bytes = allocation.end - allocation.begin,
                 .buffer_id = allocation.buffer_id,
                 .kind = allocation.kind,
                 .flags = log::DeviceMemory::kAllocated,
                 .reserved = {}},
                number, allocation.memory);
}

void define_missing_devices() {
  if (missing_devices.load(std::memory_order_relaxed) &&
      missing_devices.exchange(false, std::memory_order_relaxed)) {
    define_devices();
  }
}

void note_use(MemoryId memory) {
  Use& use = uses[memory % kUses];
  if (use.memory.load(std::memory_order_relaxed) != memory) {
    use.memory.store(0, std::memory_order_relaxed);
  }
  use.tick.store(log::now(), std::memory_order_release);
  use.memory.store(memory, std::memory_order_release);
}

bool define_driver(const Vendor& vendor, std::uint64_t not_before_tick) {
  Defined& defined = all_defined[place_of(vendor.name)];
  defined.vendor.store(&vendor, std::memory_order_release);
  defined.devices.store(0, std::memory_order_relaxed);
  Lane* lane = log::lane();
  auto* record = lane != nullptr ? lane->define<log::GpuDriver>() : nullptr;
  if (record != nullptr) {
    record->tick = log::now();
    record->not_before_tick = not_before_tick;
    log::publish(record, RecordType::gpu_driver, sizeof *record / 8,
                 static_cast<std::uint16_t>(vendor.name),
                 static_cast<std::uint32_t>(vendor.version()));
  }
  return record != nullptr;
}

void define_devices() {
  Lane* lane = log::lane();
  for (const Defined& defined : all_defined) {
    const Vendor* vendor = defined.vendor.load(std::memory_order_acquire);
    if (lane == nullptr || vendor == nullptr) continue;
    const int count = vendor->device_count();
    for (int ordinal = 0; ordinal < count && ordinal < kMostDevices; ++ordinal) {
      std::uint16_t number;
      find_number(*lane, vendor->name, ordinal, number);
    }
  }
}

}  // namespace uctrace::gpu
