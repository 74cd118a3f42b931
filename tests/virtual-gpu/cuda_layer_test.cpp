// Which memory an address is, by the layer of CUDA on the virtual driver.
#include <dlfcn.h>

#include <cstring>
#include <string>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "device-attributor/attributor.hpp"
#include "tests/virtual-gpu/alone.hpp"

namespace {

using namespace uctrace::gpu;
namespace log = uctrace::log;
using log::DeviceMemoryKind;

Answer last;
int last_error;

const Listener kListener{.defined = [](MemoryId, const Answer& answer) { last = answer; },
                         .ended = [](MemoryId, MemoryEnd) {},
                         .failed = [](int error) { last_error = error; }};

Attributor& attributor() {
  static Attributor& only = *new Attributor();
  static const bool resolved = [] {
    const char* missing = nullptr;
    EXPECT(kCuda.resolve(dlopen(kCuda.library, RTLD_LAZY | RTLD_NOLOAD), &missing));
    only.use(kCuda, kListener);
    return true;
  }();
  EXPECT(resolved);
  return only;
}

MemoryId memory_of(const void* address) {
  return attributor().memory_of(reinterpret_cast<std::uintptr_t>(address));
}
MemoryId memory_of(CUdeviceptr address) {
  return attributor().memory_of(static_cast<std::uintptr_t>(address));
}

bool is(DeviceMemoryKind kind, int device) { return last.kind == kind && last.device == device; }

CUdeviceptr map(CUdeviceptr at, CUmemLocation location) {
  CUmemAllocationProp properties = on_device(0);
  properties.location = location;
  CUmemGenericAllocationHandle handle;
  WELL(cuMemCreate(&handle, kLarge, &properties, 0));
  WELL(cuMemMap(at, kLarge, 0, handle, 0));
  WELL(cuMemRelease(handle));
  return at;
}

}  // namespace

TEST_CASE("cuda layer: memory of all kinds") {
  CHECK(run_alone({}, [] {
          use_device(1);
          CUdeviceptr pool, managed, range;
          void* pinned;
          static char own[100];
          WELL(cuMemAllocAsync(&pool, kBytes, nullptr));
          WELL(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
          WELL(cuMemHostAlloc(&pinned, kBytes, 0));
          WELL(cuMemAddressReserve(&range, 2 * kLarge, 0, 0, 0));
          map(range, {CU_MEM_LOCATION_TYPE_DEVICE, 0});
          map(range + kLarge, {CU_MEM_LOCATION_TYPE_HOST, 0});
          const CUdeviceptr device = allocate();
          EXPECT(memory_of(device + kBytes - 1) >= log::kFirstDeviceMemory &&
                 is(DeviceMemoryKind::device, 1));
          EXPECT(last.begin == device && last.bytes == kBytes);
          EXPECT(memory_of(pool) >= log::kFirstDeviceMemory && is(DeviceMemoryKind::pool, 1));
          EXPECT(memory_of(managed) >= log::kFirstDeviceMemory && is(DeviceMemoryKind::managed, 1));
          EXPECT(memory_of(pinned) >= log::kFirstDeviceMemory && is(DeviceMemoryKind::pinned, -1));
          EXPECT(memory_of(range) >= log::kFirstDeviceMemory && is(DeviceMemoryKind::mapped, 0));
          EXPECT(memory_of(range + kLarge) >= log::kFirstDeviceMemory &&
                 is(DeviceMemoryKind::mapped_host, -1));
          EXPECT(memory_of(own) == log::kHostMemory);
          WELL(cuMemHostRegister(own, sizeof own, 0));
          EXPECT(memory_of(own) >= log::kFirstDeviceMemory && is(DeviceMemoryKind::pinned, -1));
          WELL(cuMemHostUnregister(own));
          EXPECT(memory_of(own) == log::kHostMemory);
        }) == 0);
}

TEST_CASE("cuda layer: an address that is used again, or mapped again, is another memory") {
  CHECK(run_alone({}, [] {
          use_device(0);
          const CUdeviceptr first = allocate();
          const MemoryId memory = memory_of(first);
          EXPECT(memory_of(first) == memory);
          WELL(cuMemFree(first));
          EXPECT(memory_of(first) == log::kHostMemory);
          EXPECT(allocate() == first);
          EXPECT(memory_of(first) != memory && memory_of(first) >= log::kFirstDeviceMemory);
          CUdeviceptr range;
          WELL(cuMemAddressReserve(&range, kLarge, 0, 0, 0));
          const MemoryId mapped = memory_of(map(range, {CU_MEM_LOCATION_TYPE_DEVICE, 0}));
          EXPECT(is(DeviceMemoryKind::mapped, 0));
          WELL(cuMemUnmap(range, kLarge));
          EXPECT(memory_of(map(range, {CU_MEM_LOCATION_TYPE_DEVICE, 1})) != mapped);
          EXPECT(is(DeviceMemoryKind::mapped, 1));
        }) == 0);
}

TEST_CASE("cuda layer: a driver that was not initialised has no memory, one that fails may have") {
  CHECK(run_alone({}, [] {
          char own;
          EXPECT(memory_of(&own) == log::kHostMemory && last_error == 0);
          EXPECT(kCuda.device_count() == 0);
        }) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "cuPointerGetAttributes=999"}}, [] {
          use_device(0);
          char own;
          EXPECT(memory_of(allocate()) == log::kUnknownMemory && last_error == 999);
          EXPECT(memory_of(&own) == log::kUnknownMemory);
        }) == 0);
}

TEST_CASE("cuda layer: within a function that the driver calls nothing can be told") {
  CHECK(run_alone({}, [] {
          use_device(0);
          static char own;
          static MemoryId inside;
          EXPECT(memory_of(&own) == log::kHostMemory);
          WELL(cuLaunchHostFunc(
              nullptr, [](void*) { inside = memory_of(&own); }, nullptr));
          EXPECT(inside == log::kUnknownMemory && last_error == CUDA_ERROR_NOT_PERMITTED);
        }) == 0);
}

TEST_CASE("cuda layer: devices are what they are, however they are counted") {
  CHECK(run_alone({{"CUDA_VISIBLE_DEVICES", "1,0"}}, [] {
          use_device(0);
          EXPECT(memory_of(allocate()) >= log::kFirstDeviceMemory && last.device == 0);
          DeviceFacts first{}, second{};
          EXPECT(kCuda.device_count() == 2);
          EXPECT(kCuda.describe(0, first) && kCuda.describe(1, second));
          EXPECT(first.pci_bus == 0x20 && second.pci_bus == 0x10);
          EXPECT(std::memcmp(first.uuid, second.uuid, sizeof first.uuid) != 0);
          EXPECT(std::memcmp(first.uuid, first.gpu_uuid, sizeof first.uuid) == 0);
          EXPECT(first.memory_bytes > 0 && std::string(first.name) == "Virtual GPU");
        }) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_MIG", "2"}}, [] {
          use_device(0);
          DeviceFacts first{}, second{};
          EXPECT(attributor().memory_of(0) == log::kHostMemory);
          EXPECT(kCuda.describe(0, first) && kCuda.describe(1, second));
          EXPECT(std::memcmp(first.uuid, second.uuid, sizeof first.uuid) != 0);
          EXPECT(std::memcmp(first.gpu_uuid, second.gpu_uuid, sizeof first.uuid) == 0);
        }) == 0);
}
