// The layer of Level Zero: zeMemGetAllocProperties.
//
// Questions about memory need a context. Each context of a driver knows the memory of all, so
// uctrace makes its own, as UCX does, once the program has initialised the driver. It stays.
//
// In a fork child any function of the driver initialises it anew. So nothing is asked there until
// the child has its own log: it then uses UCX or MPI itself.
#include <string.h>

#include <atomic>
#include <cstddef>

#include "device-attributor/driver_functions.hpp"
#include "device-attributor/level_zero_abi.hpp"
#include "device-attributor/vendor.hpp"
#include "interpose/fork_lock.hpp"

namespace uctrace::gpu::level_zero {

namespace {

constinit Functions driver{};

bool find_functions(void* library, const char** missing) {
  const NeededFunctions need{library, missing};
  find_function(library, "zeDeviceGetRootDevice", driver.get_root);
  find_function(library, "zeDevicePciGetPropertiesExt", driver.get_pci);
  find_function(library, "zeDeviceGetMemoryProperties", driver.get_memories);
  find_function(library, "zeVirtualMemGetAccessAttribute", driver.get_access);
  return need("zeDriverGet", driver.get_drivers) &&
         need("zeDriverGetApiVersion", driver.get_version) &&
         need("zeDeviceGet", driver.get_devices) &&
         need("zeDeviceGetSubDevices", driver.get_sub_devices) &&
         need("zeDeviceGetProperties", driver.get_device) &&
         need("zeContextCreate", driver.create_context) &&
         need("zeMemGetAllocProperties", driver.get_allocation) &&
         need("zeMemGetAddressRange", driver.get_range);
}

// --- drivers, and their devices ------------------------------------------------------------------

// Loaders bring several drivers together: of Intel's GPUs, of its processors for inference, ...
constexpr std::uint32_t kMostDrivers = 8;
struct Drivers {
  Handle all[kMostDrivers];
  std::uint32_t count = kMostDrivers;
  Result result;
  Drivers() : result(driver.get_drivers(&count, all)) {
    if (result != kSuccess) count = 0;
    if (count > kMostDrivers) count = kMostDrivers;
  }
};

// The drivers that have GPUs, and our context of each.
struct Context {
  std::atomic<Handle> of_driver, context;
};
constinit Context contexts[kMostDrivers]{};

Result add_context(Handle of_driver) {
  for (Context& one : contexts) {
    Handle before = nullptr;
    if (!one.of_driver.compare_exchange_strong(before, of_driver, std::memory_order_acq_rel) &&
        before != of_driver) {
      continue;
    }
    if (one.context.load(std::memory_order_acquire) != nullptr) return kSuccess;
    const ContextDescription description;
    Handle context = nullptr;
    const Result result = driver.create_context(of_driver, &description, &context);
    if (result == kSuccess) one.context.store(context, std::memory_order_release);
    return result;
  }
  return kSuccess;
}

// GPUs in the order in which they were found, then tiles whose memory was seen, in that order: the
// ordinal of a device never changes.
constexpr int kMostDevices = 64;
constinit std::atomic<Handle> devices[kMostDevices]{};

// -1: there are too many.
int add_device(Handle device) {
  for (int ordinal = 0; ordinal < kMostDevices; ++ordinal) {
    Handle before = nullptr;
    if (devices[ordinal].compare_exchange_strong(before, device, std::memory_order_acq_rel) ||
        before == device) {
      return ordinal;
    }
  }
  return -1;
}

bool is_gpu(Handle device) {
  DeviceProperties properties{};
  return driver.get_device(device, &properties) == kSuccess && properties.type == kGpu;
}

// `any`: whether there are any.
Result add_gpus_of(Handle of_driver, bool& any) {
  Handle found[kMostDevices];
  std::uint32_t count = kMostDevices;
  any = false;
  const Result result = driver.get_devices(of_driver, &count, found);
  if (result != kSuccess) return result;
  for (std::uint32_t i = 0; i < count && i < kMostDevices; ++i) {
    if (!is_gpu(found[i])) continue;
    add_device(found[i]);
    any = true;
  }
  return kSuccess;
}

// The result of the last look, and how many failed one after the other.
constinit std::atomic<Result> last_look{kUninitialized};
constinit std::atomic<unsigned> failed_looks{0};

// Finds the drivers and GPUs of this moment. An error says why not all of them can be asked. A
// driver that does not tell its devices counts as having no GPUs, if another one has some.
Result look_around() {
  const Drivers drivers;
  Result result = drivers.result, untold = kSuccess;
  bool any = false;
  for (std::uint32_t i = 0; i < drivers.count; ++i) {
    bool has_gpus;
    if (const Result told = add_gpus_of(drivers.all[i], has_gpus); told != kSuccess) untold = told;
    if (!has_gpus) continue;
    any = true;
    if (const Result made = add_context(drivers.all[i]); made != kSuccess) result = made;
  }
  if (!any && result == kSuccess) result = untold;
  const bool failed = result != kSuccess && result != kUninitialized;
  failed_looks.store(failed ? failed_looks.load(std::memory_order_relaxed) + 1 : 0,
                     std::memory_order_relaxed);
  last_look.store(result, std::memory_order_release);
  return result;
}

// Looks around unless that has succeeded before. After a few failures, only device_count() still
// looks, as it always does: a look costs many calls.
Result make_ready() {
  constexpr unsigned kMostTries = 8;
  const Result last = last_look.load(std::memory_order_acquire);
  const bool gives_up = failed_looks.load(std::memory_order_relaxed) >= kMostTries;
  return last == kSuccess || gives_up ? last : look_around();
}

int count_devices() {
  int count = 0;
  while (count < kMostDevices && devices[count].load(std::memory_order_acquire) != nullptr) ++count;
  return count;
}

// The process that owns all this: a fork child cannot use what it inherits.
constinit std::atomic<std::uint32_t> known_process{0};

bool is_of_this_process() {
  return known_process.load(std::memory_order_acquire) == interpose::process_number();
}

void start_anew() {
  if (is_of_this_process()) return;
  for (Context& one : contexts) {
    one.of_driver.store(nullptr, std::memory_order_relaxed);
    one.context.store(nullptr, std::memory_order_relaxed);
  }
  for (std::atomic<Handle>& one : devices) one.store(nullptr, std::memory_order_relaxed);
  failed_looks.store(0, std::memory_order_relaxed);
  last_look.store(kUninitialized, std::memory_order_relaxed);
  known_process.store(interpose::process_number(), std::memory_order_release);
}

bool resolve(void* library, const char** missing) {
  if (!find_functions(library, missing)) return false;
  start_anew();
  return true;
}

// As CUDA counts versions: 1.3 is 1030.
int version() {
  if (!is_of_this_process()) return 0;
  const Drivers drivers;
  std::uint32_t told = 0;
  if (drivers.count == 0 || driver.get_version(drivers.all[0], &told) != kSuccess) return 0;
  return static_cast<int>((told >> 16) * 1000 + (told & 0xffff) * 10);
}

// None before the program initialises the driver.
int device_count() {
  if (!is_of_this_process()) return 0;
  look_around();
  return count_devices();
}

// GPUs come before tiles.
int ordinal_of(Handle device) {
  for (int ordinal = 0; ordinal < kMostDevices; ++ordinal) {
    if (devices[ordinal].load(std::memory_order_acquire) == device) return ordinal;
  }
  look_around();
  return add_device(device);
}

// The GPU of a tile. Loaders before 1.7 cannot be asked: then all GPUs are searched.
Handle root_of(Handle device) {
  Handle root = nullptr;
  if (driver.get_root != nullptr) {
    return driver.get_root(device, &root) == kSuccess && root != nullptr ? root : device;
  }
  for (const std::atomic<Handle>& one : devices) {
    const Handle gpu = one.load(std::memory_order_acquire);
    if (gpu == nullptr) break;
    Handle tiles[kMostDevices];
    std::uint32_t count = kMostDevices;
    if (driver.get_sub_devices(gpu, &count, tiles) != kSuccess) continue;
    for (std::uint32_t i = 0; i < count && i < kMostDevices; ++i) {
      if (tiles[i] == device) return gpu;
    }
  }
  return device;
}

// Without the extensions, the GPU's place on the bus and the size of its memory stay zero.
void read_pci(Handle device, DeviceFacts& facts) {
  PciProperties pci{};
  if (driver.get_pci == nullptr || driver.get_pci(device, &pci) != kSuccess) return;
  facts.pci_domain = pci.domain;
  facts.pci_bus = static_cast<std::uint8_t>(pci.bus);
  facts.pci_device = static_cast<std::uint8_t>(pci.device);
  facts.pci_function = static_cast<std::uint8_t>(pci.function);
}

void read_memory(Handle device, DeviceFacts& facts) {
  constexpr std::uint32_t kMostMemories = 8;
  DeviceMemoryProperties memories[kMostMemories]{};
  std::uint32_t count = kMostMemories;
  if (driver.get_memories == nullptr || driver.get_memories(device, &count, memories) != kSuccess) {
    return;
  }
  for (std::uint32_t i = 0; i < count && i < kMostMemories; ++i) {
    facts.memory_bytes += memories[i].bytes;
  }
}

bool describe(int ordinal, DeviceFacts& facts) {
  const Handle device = ordinal >= 0 && ordinal < kMostDevices
                            ? devices[ordinal].load(std::memory_order_acquire)
                            : nullptr;
  DeviceProperties properties{}, whole{};
  if (!is_of_this_process() || device == nullptr ||
      driver.get_device(device, &properties) != kSuccess)
    return false;
  const Handle root = root_of(device);
  if (root == device || driver.get_device(root, &whole) != kSuccess) whole = properties;
  memcpy(facts.uuid, properties.uuid, sizeof facts.uuid);
  memcpy(facts.gpu_uuid, whole.uuid, sizeof facts.gpu_uuid);
  memcpy(facts.name, properties.name, sizeof facts.name - 1);
  read_pci(root, facts);
  read_memory(device, facts);
  return true;
}

// --- what an address is --------------------------------------------------------------------------

struct Found {
  Result result = kSuccess;
  AllocationProperties allocation;
  Handle device = nullptr, context = nullptr;
};

// Asks until a driver knows it.
Found find_allocation(std::uintptr_t address) {
  Found found;
  found.result = make_ready();
  if (found.result != kSuccess) return found;
  for (const Context& one : contexts) {
    found.context = one.context.load(std::memory_order_acquire);
    if (found.context == nullptr) break;
    found.result = driver.get_allocation(found.context, reinterpret_cast<const void*>(address),
                                         &found.allocation, &found.device);
    if (found.result != kSuccess || found.allocation.type != kUnknown) break;
  }
  return found;
}

// Physical memory mapped at an address range looks like any other memory, but the range has an
// access attribute.
bool is_mapped(Handle context, std::uintptr_t address) {
  constexpr std::uintptr_t kPageBytes = 4096;
  unsigned access;
  std::size_t bytes;
  return driver.get_access != nullptr &&
         driver.get_access(context,
                           reinterpret_cast<const void*>(address / kPageBytes * kPageBytes),
                           kPageBytes, &access, &bytes) == kSuccess;
}

bool find_kind(const Found& found, std::uintptr_t address, DeviceMemoryKind& kind) {
  switch (found.allocation.type) {
    case kHost:
    case kHostImported:
      kind = is_mapped(found.context, address) ? DeviceMemoryKind::mapped_host
                                               : DeviceMemoryKind::pinned;
      return true;
    case kDevice:
      kind =
          is_mapped(found.context, address) ? DeviceMemoryKind::mapped : DeviceMemoryKind::device;
      return true;
    case kShared:
      kind = DeviceMemoryKind::managed;
      return true;
    default:
      return false;
  }
}

Answer failed(int error) { return {.what = Answer::What::failed, .error = error}; }

// `id` is not reported: drivers keep pools, and all memory of a pool has the pool's id.
Answer answer_of(const Found& found, std::uintptr_t address) {
  Answer answer{.what = Answer::What::known};
  if (!find_kind(found, address, answer.kind)) return failed(kUnknownLocation);
  void* begin = nullptr;
  const Result result = driver.get_range(found.context, reinterpret_cast<const void*>(address),
                                         &begin, &answer.bytes);
  if (result == kAddressNotFound) return {.what = Answer::What::host};  // freed memory of a pool
  if (result != kSuccess) answer.bytes = 0;
  answer.begin = reinterpret_cast<std::uintptr_t>(begin);
  const bool on_host =
      answer.kind == DeviceMemoryKind::pinned || answer.kind == DeviceMemoryKind::mapped_host;
  if (!on_host && found.device != nullptr) answer.device = ordinal_of(found.device);
  return answer;
}

// If there was a context before, a loader that is not initialised was torn down. Its memory does
// not become host memory by that.
Answer query(std::uintptr_t address) {
  if (!is_of_this_process()) return {.what = Answer::What::host};
  const Found found = find_allocation(address);
  const bool had_context = contexts[0].context.load(std::memory_order_acquire) != nullptr;
  if (found.result == kUninitialized && !had_context) return {.what = Answer::What::host};
  if (found.result != kSuccess) return failed(static_cast<int>(found.result));
  if (found.allocation.type == kUnknown) return {.what = Answer::What::host};
  return answer_of(found, address);
}

}  // namespace

}  // namespace uctrace::gpu::level_zero

namespace uctrace::gpu {

constinit const Vendor kLevelZero{.name = log::Vendor::level_zero,
                                  .library = "libze_loader.so.1",
                                  .resolve = level_zero::resolve,
                                  .version = level_zero::version,
                                  .device_count = level_zero::device_count,
                                  .describe = level_zero::describe,
                                  .query = level_zero::query,
                                  .start_anew = level_zero::start_anew};

}  // namespace uctrace::gpu
