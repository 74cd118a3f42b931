// The layer of Level Zero: what zeMemGetAllocProperties says. The prototypes are our own, so that
// no oneAPI is needed; their numbers are part of Level Zero's ABI.
//
// Memory is asked about within a context. Any one of a driver knows the memory of all, so uctrace
// makes one of its own, as UCX does, once the program has initialised the driver. It stays.
#include <dlfcn.h>
#include <string.h>

#include <atomic>
#include <cstddef>

#include "device-attributor/vendor.hpp"

namespace uctrace::gpu::level_zero {

namespace {

using Result = unsigned;
using Handle = void*;  // of drivers, devices and contexts alike

constexpr Result kSuccess = 0, kUninitialized = 0x78000001;

// ze_structure_type_t: each structure begins with its own.
enum StructureType : unsigned {
  kDeviceProperties = 0x3,
  kDeviceMemoryProperties = 0x7,
  kContextDescription = 0xd,
  kAllocationProperties = 0x17,
  kPciProperties = 0x10008,
};

struct Header {
  StructureType type;
  void* next = nullptr;
};

// ze_device_properties_t.
struct DeviceProperties {
  Header header{kDeviceProperties};
  unsigned type;  // ze_device_type_t
  std::uint32_t vendor, device, flags, sub_device, clock;
  std::uint64_t largest_allocation;
  std::uint32_t contexts, priorities, threads_per_unit, width, units_per_slice, slices_per_slice,
      slices;
  std::uint64_t timer_resolution;
  std::uint32_t timestamp_bits, kernel_timestamp_bits;
  unsigned char uuid[16];
  char name[256];
};
constexpr unsigned kGpu = 1;  // ZE_DEVICE_TYPE_GPU

// ze_pci_ext_properties_t.
struct PciProperties {
  Header header{kPciProperties};
  std::uint32_t domain, bus, device, function;
  std::int32_t generation, width;
  std::int64_t bandwidth;
};

// ze_device_memory_properties_t.
struct DeviceMemoryProperties {
  Header header{kDeviceMemoryProperties};
  std::uint32_t flags, clock, width;
  std::uint64_t bytes;
  char name[256];
};

// ze_memory_allocation_properties_t.
struct AllocationProperties {
  Header header{kAllocationProperties};
  unsigned type = 0;  // ze_memory_type_t
  std::uint64_t id = 0, page_bytes = 0;
};
constexpr unsigned kUnknown = 0, kHost = 1, kDevice = 2, kShared = 3;

// ze_context_desc_t.
struct ContextDescription {
  Header header{kContextDescription};
  std::uint32_t flags = 0;
};

struct Functions {
  Result (*get_drivers)(std::uint32_t*, Handle*);
  Result (*get_version)(Handle, std::uint32_t*);
  Result (*get_devices)(Handle, std::uint32_t*, Handle*);
  Result (*get_sub_devices)(Handle, std::uint32_t*, Handle*);
  Result (*get_device)(Handle, DeviceProperties*);
  Result (*create_context)(Handle, const ContextDescription*, Handle*);
  Result (*get_allocation)(Handle, const void*, AllocationProperties*, Handle*);
  Result (*get_range)(Handle, const void*, void**, std::size_t*);
  // nullptr in older loaders, or where an extension is missing.
  Result (*get_root)(Handle, Handle*);
  Result (*get_pci)(Handle, PciProperties*);
  Result (*get_memories)(Handle, std::uint32_t*, DeviceMemoryProperties*);
  Result (*get_access)(Handle, const void*, std::size_t, unsigned*, std::size_t*);
};
constinit Functions driver{};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve(void* library, const char** missing) {
  const auto need = [&](const char* name, auto& function) {
    if (find(library, name, function)) return true;
    *missing = name;
    return false;
  };
  find(library, "zeDeviceGetRootDevice", driver.get_root);
  find(library, "zeDevicePciGetPropertiesExt", driver.get_pci);
  find(library, "zeDeviceGetMemoryProperties", driver.get_memories);
  find(library, "zeVirtualMemGetAccessAttribute", driver.get_access);
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

// As CUDA counts versions: 1.3 is 1030.
int version() {
  const Drivers drivers;
  std::uint32_t told = 0;
  if (drivers.count == 0 || driver.get_version(drivers.all[0], &told) != kSuccess) return 0;
  return static_cast<int>((told >> 16) * 1000 + (told & 0xffff) * 10);
}

// The drivers that have GPUs, and our context of each.
struct Context {
  std::atomic<Handle> of_driver, context;
};
constinit Context contexts[kMostDrivers]{};

// One that cannot be had is tried again when it is needed.
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

// GPUs in the order in which they were met, and after them in the same way the tiles of which
// memory was met: an ordinal stays that of its device.
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

// Whether there are any.
bool add_gpus_of(Handle of_driver) {
  Handle found[kMostDevices];
  std::uint32_t count = kMostDevices;
  if (driver.get_devices(of_driver, &count, found) != kSuccess) return false;
  bool any = false;
  for (std::uint32_t i = 0; i < count && i < kMostDevices; ++i) {
    if (!is_gpu(found[i])) continue;
    add_device(found[i]);
    any = true;
  }
  return any;
}

// What drivers and GPUs there are by now. The result is why not all of them can be asked.
Result look_around() {
  const Drivers drivers;
  Result result = drivers.result;
  for (std::uint32_t i = 0; i < drivers.count; ++i) {
    if (!add_gpus_of(drivers.all[i])) continue;
    if (const Result made = add_context(drivers.all[i]); made != kSuccess) result = made;
  }
  return result;
}

int count_devices() {
  int count = 0;
  while (count < kMostDevices && devices[count].load(std::memory_order_acquire) != nullptr) ++count;
  return count;
}

// None before the program initialises the driver.
int device_count() {
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

// Of a tile the GPU that it is of. Loaders before 1.7 cannot be asked: then the GPUs are gone
// through.
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

// Without the extension for it where a GPU is on the bus is left as zero, as is how large its
// memory is.
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
  if (device == nullptr || driver.get_device(device, &properties) != kSuccess) return false;
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

bool have_all_contexts() {
  for (const Context& one : contexts) {
    if (one.of_driver.load(std::memory_order_acquire) == nullptr) break;
    if (one.context.load(std::memory_order_acquire) == nullptr) return false;
  }
  return contexts[0].of_driver.load(std::memory_order_acquire) != nullptr;
}

// By the first driver that knows it.
Found find_allocation(std::uintptr_t address) {
  Found found;
  if (!have_all_contexts()) found.result = look_around();
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

// Physical memory that is mapped at a range of addresses looks like any other, but the range has
// an access of its own.
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

Answer failed(Result error) {
  return {.what = Answer::What::failed, .error = static_cast<int>(error)};
}

Answer query(std::uintptr_t address) {
  const Found found = find_allocation(address);
  if (found.result == kUninitialized) return {.what = Answer::What::host};
  if (found.result != kSuccess) return failed(found.result);
  if (found.allocation.type == kUnknown) return {.what = Answer::What::host};
  Answer answer{.what = Answer::What::known, .buffer_id = found.allocation.id};
  if (!find_kind(found, address, answer.kind)) {
    return {.what = Answer::What::failed, .error = kUnknownLocation};
  }
  if (found.allocation.type != kHost && found.device != nullptr) {
    answer.device = ordinal_of(found.device);
  }
  void* begin = nullptr;
  if (driver.get_range(found.context, reinterpret_cast<const void*>(address), &begin,
                       &answer.bytes) != kSuccess) {
    answer.bytes = 0;
  }
  answer.begin = reinterpret_cast<std::uintptr_t>(begin);
  return answer;
}

int buffer_id(std::uintptr_t address, std::uint64_t& id) {
  const Found found = find_allocation(address);
  id = found.result == kSuccess && found.allocation.type != kUnknown ? found.allocation.id : 0;
  return found.result == kUninitialized ? 0 : static_cast<int>(found.result);
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
                                  .buffer_id = level_zero::buffer_id};

}  // namespace uctrace::gpu
