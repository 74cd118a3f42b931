// The layer of CUDA: cuPointerGetAttributes and the functions of virtual memory management. The
// prototypes are our own, so no toolkit is needed; their numbers are part of CUDA's ABI.
#include <string.h>

#include "device-attributor/driver_functions.hpp"
#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

namespace {

using Result = int;
using DevicePointer = unsigned long long;
using Handle = unsigned long long;

constexpr Result kSuccess = 0, kInvalidValue = 1, kNotInitialized = 3, kStubLibrary = 34,
                 kNoDevice = 100, kInvalidContext = 201, kNotFound = 500, kNotSupported = 801;

// CUpointer_attribute.
enum Attribute : int {
  kContext = 1,
  kMemoryType = 2,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kRangeStart = 11,
  kRangeSize = 12,
  kPool = 17,
  // Of newer drivers.
  kMappingSize = 18,
  kMappingBegin = 19,
  kBlockId = 20,
};
constexpr unsigned kTypeHost = 1;  // CU_MEMORYTYPE_HOST

// CUdevice_attribute.
constexpr int kPciBus = 33, kPciDevice = 34, kPciDomain = 50;

// CUmemAllocationProp, and room for what later drivers append.
struct Properties {
  int type;
  int handle_types;
  int location_type;
  int location_id;
  std::uint64_t rest[14];
};
// CUmemLocationType.
constexpr int kOnDevice = 1, kOnHost = 2, kOnHostNuma = 3, kOnHostNumaCurrent = 4;

struct Functions {
  Result (*get_version)(int*);
  Result (*get_count)(int*);
  Result (*get_device)(int*, int);
  Result (*get_name)(char*, int, int);
  Result (*get_uuid)(void*, int);
  Result (*get_instance_uuid)(void*, int);  // nullptr before CUDA 11.4
  Result (*get_total)(std::size_t*, int);
  Result (*get_device_attribute)(int*, int, int);
  Result (*get_attribute)(void*, Attribute, DevicePointer);
  Result (*get_attributes)(unsigned, const Attribute*, void**, DevicePointer);
  // Virtual memory management: nullptr before CUDA 11.
  Result (*retain)(Handle*, void*);
  Result (*get_properties)(Properties*, Handle);
  Result (*release)(Handle);
  Result (*get_range)(DevicePointer*, std::size_t*, DevicePointer);
};
constinit Functions driver{};

bool resolve(void* library, const char** missing) {
  const NeededFunctions need{library, missing};
  find_function(library, "cuDeviceGetUuid_v2", driver.get_instance_uuid);
  find_function(library, "cuMemRetainAllocationHandle", driver.retain);
  find_function(library, "cuMemGetAllocationPropertiesFromHandle", driver.get_properties);
  find_function(library, "cuMemRelease", driver.release);
  find_function(library, "cuMemGetAddressRange_v2", driver.get_range);
  return need("cuDriverGetVersion", driver.get_version) &&
         need("cuDeviceGetCount", driver.get_count) && need("cuDeviceGet", driver.get_device) &&
         need("cuDeviceGetName", driver.get_name) && need("cuDeviceGetUuid", driver.get_uuid) &&
         need("cuDeviceTotalMem_v2", driver.get_total) &&
         need("cuDeviceGetAttribute", driver.get_device_attribute) &&
         need("cuPointerGetAttribute", driver.get_attribute) &&
         need("cuPointerGetAttributes", driver.get_attributes);
}

int version() {
  int number = 0;
  return driver.get_version(&number) == kSuccess ? number : 0;
}

// None before the program initialises the driver.
int device_count() {
  int count = 0;
  return driver.get_count(&count) == kSuccess ? count : 0;
}

bool describe(int ordinal, DeviceFacts& facts) {
  int device, bus, slot, domain;
  std::size_t bytes;
  if (driver.get_device(&device, ordinal) != kSuccess ||
      driver.get_uuid(facts.gpu_uuid, device) != kSuccess ||
      driver.get_device_attribute(&bus, kPciBus, device) != kSuccess ||
      driver.get_device_attribute(&slot, kPciDevice, device) != kSuccess ||
      driver.get_device_attribute(&domain, kPciDomain, device) != kSuccess ||
      driver.get_total(&bytes, device) != kSuccess ||
      driver.get_name(facts.name, sizeof facts.name, device) != kSuccess) {
    return false;
  }
  if (driver.get_instance_uuid == nullptr ||
      driver.get_instance_uuid(facts.uuid, device) != kSuccess) {
    memcpy(facts.uuid, facts.gpu_uuid, sizeof facts.uuid);
  }
  facts.pci_domain = static_cast<std::uint32_t>(domain);
  facts.pci_bus = static_cast<std::uint8_t>(bus);
  facts.pci_device = static_cast<std::uint8_t>(slot);
  facts.pci_function = 0;
  facts.memory_bytes = bytes;
  return true;
}

// --- what an address is --------------------------------------------------------------------------

struct Attributes {
  void* context = nullptr;
  unsigned type = 0;  // 0: the driver knows nothing of the address
  std::uint64_t buffer_id = 0;
  unsigned managed = 0;
  int ordinal = -1;
  DevicePointer begin = 0;
  std::size_t bytes = 0;
};

Result read_attributes(std::uintptr_t address, Attributes& told) {
  constexpr Attribute kAsked[] = {kContext,       kMemoryType, kBufferId, kIsManaged,
                                  kDeviceOrdinal, kRangeStart, kRangeSize};
  void* values[] = {&told.context, &told.type,  &told.buffer_id, &told.managed,
                    &told.ordinal, &told.begin, &told.bytes};
  return driver.get_attributes(sizeof kAsked / sizeof *kAsked, kAsked, values, address);
}

// Drivers before CUDA 11.2 have no pools and do not know the attribute.
bool is_of_pool(std::uintptr_t address) {
  void* pool = nullptr;
  return driver.get_attribute(&pool, kPool, address) == kSuccess && pool != nullptr;
}

// The driver, or this part of it, does not know the address.
bool says_nothing_there(Result result) {
  return result == kInvalidValue || result == kNotFound || result == kNotSupported ||
         result == kInvalidContext;
}

// The driver cannot have memory: it was never initialised, or has no device. A driver that is
// shutting down may still have some.
bool says_no_driver(Result result) {
  return result == kNotInitialized || result == kStubLibrary || result == kNoDevice;
}

// The properties of physical memory that is mapped at the address, if any is.
Result find_mapped(std::uintptr_t address, Properties& properties, bool& mapped) {
  mapped = false;
  if (driver.retain == nullptr || driver.get_properties == nullptr || driver.release == nullptr) {
    return kSuccess;
  }
  Handle handle;
  const Result retained = driver.retain(&handle, reinterpret_cast<void*>(address));
  if (retained != kSuccess) {
    return says_nothing_there(retained) ? kSuccess : retained;
  }
  mapped = true;
  const Result result = driver.get_properties(&properties, handle);
  driver.release(handle);
  return result;
}

// The piece that is mapped at the address, and its id. RANGE_* describe the whole reserved range,
// which may hold many pieces on several devices.
void read_mapping(std::uintptr_t address, Answer& answer) {
  DevicePointer begin = 0;
  std::size_t bytes = 0;
  std::uint64_t block = 0;
  constexpr Attribute kAsked[] = {kMappingBegin, kMappingSize, kBlockId};
  void* values[] = {&begin, &bytes, &block};
  if (driver.get_attributes(3, kAsked, values, address) != kSuccess || bytes == 0) {
    block = 0;
    if (driver.get_range == nullptr || driver.get_range(&begin, &bytes, address) != kSuccess) {
      bytes = 0;
    }
  }
  answer.begin = static_cast<std::uintptr_t>(begin);
  answer.bytes = bytes;
  if (block != 0) answer.buffer_id = block;
}

Answer failed(Result error) { return {.what = Answer::What::failed, .error = error}; }

Answer mapped_memory(std::uintptr_t address, const Properties& properties, std::uint64_t id) {
  Answer answer{.what = Answer::What::known, .buffer_id = id};
  switch (properties.location_type) {
    case kOnDevice:
      answer.kind = DeviceMemoryKind::mapped;
      answer.device = properties.location_id;
      break;
    case kOnHost:
    case kOnHostNuma:
    case kOnHostNumaCurrent:
      answer.kind = DeviceMemoryKind::mapped_host;
      break;
    default:
      return failed(kUnknownLocation);
  }
  read_mapping(address, answer);
  return answer;
}

// Managed memory that is on the host at the moment has the type HOST.
DeviceMemoryKind kind_of(std::uintptr_t address, const Attributes& told) {
  if (told.managed != 0) return DeviceMemoryKind::managed;
  if (told.type == kTypeHost) return DeviceMemoryKind::pinned;
  return told.context == nullptr || is_of_pool(address) ? DeviceMemoryKind::pool
                                                        : DeviceMemoryKind::device;
}

// Only the handle of mapped memory tells where it is.
Answer query(std::uintptr_t address) {
  Attributes told;
  const Result result = read_attributes(address, told);
  if (says_no_driver(result)) return {.what = Answer::What::host};
  if (result != kSuccess) return failed(result);
  Properties properties{};
  bool mapped;
  const Result looked = find_mapped(address, properties, mapped);
  if (looked != kSuccess) return failed(looked);
  if (mapped) return mapped_memory(address, properties, told.buffer_id);
  if (told.type == 0) return {.what = Answer::What::host};
  const DeviceMemoryKind kind = kind_of(address, told);
  return {.what = Answer::What::known,
          .kind = kind,
          .device = kind == DeviceMemoryKind::pinned ? -1 : told.ordinal,
          .begin = static_cast<std::uintptr_t>(told.begin),
          .bytes = told.bytes,
          .buffer_id = told.buffer_id};
}

int buffer_id(std::uintptr_t address, std::uint64_t& id) {
  const Result result = driver.get_attribute(&id, kBufferId, address);
  if (result == kSuccess) return 0;
  id = 0;
  return says_nothing_there(result) || says_no_driver(result) ? 0 : result;
}

}  // namespace

constinit const Vendor kCuda{.name = log::Vendor::cuda,
                             .library = "libcuda.so.1",
                             .resolve = resolve,
                             .version = version,
                             .device_count = device_count,
                             .describe = describe,
                             .query = query,
                             .buffer_id = buffer_id};

}  // namespace uctrace::gpu
