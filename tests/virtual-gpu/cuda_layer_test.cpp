// Which memory an address is in, according to the CUDA layer on the virtual driver.
#include <cstring>
#include <string>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/virtual-gpu/layer.hpp"

namespace {

using namespace uctrace::gpu;
using namespace uctrace::gpu::test;
namespace log = uctrace::log;
using log::DeviceMemoryKind;

Attributor& attributor() {
  static Attributor& only = *new Attributor();
  static const bool resolved = [] {
    ask(kCuda, only);
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

namespace {

// A range of addresses with parts on the first GPU, on the second, and on the host.
CUdeviceptr map_pieces() {
  CUdeviceptr range;
  WELL(cuMemAddressReserve(&range, 3 * kLarge, 0, 0, 0));
  map(range, {CU_MEM_LOCATION_TYPE_DEVICE, 0});
  map(range + kLarge, {CU_MEM_LOCATION_TYPE_DEVICE, 1});
  map(range + 2 * kLarge, {CU_MEM_LOCATION_TYPE_HOST, 0});
  return range;
}

void use_pieces() {
  use_device(0);
  const CUdeviceptr range = map_pieces();
  MemoryId first[3];
  for (int round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 3; ++i) {
      const MemoryId memory = memory_of(range + i * kLarge + 100);
      if (round == 0) {
        first[i] = memory;
        EXPECT(last.begin == range + i * kLarge && last.bytes == kLarge);
        EXPECT(is(i < 2 ? DeviceMemoryKind::mapped : DeviceMemoryKind::mapped_host,
                  i < 2 ? static_cast<int>(i) : -1));
      }
      EXPECT(memory == first[i]);
    }
  }
  EXPECT(ends == 0);
  WELL(cuMemUnmap(range, kLarge));
  memory_of(map(range, {CU_MEM_LOCATION_TYPE_DEVICE, 1}));
  EXPECT(is(DeviceMemoryKind::mapped, 1) && ends == 1);
  WELL(cuMemUnmap(range, kLarge));
  EXPECT(memory_of(range) == log::kHostMemory && ends == 2);
}

}  // namespace

TEST_CASE("cuda layer: pieces of one range are each their own, whatever their ids") {
  CHECK(run_alone({}, use_pieces) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_TELLS_LESS", "1"}}, use_pieces) == 0);
}

TEST_CASE("cuda layer: where nothing tells the extent of a mapping, an address is known alone") {
  CHECK(
      run_alone(
          {{"VIRTUAL_GPU_TELLS_LESS", "1"}, {"VIRTUAL_GPU_FAIL", "cuMemGetAddressRange_v2=1"}}, [] {
            use_device(0);
            const CUdeviceptr range = map_pieces();
            const MemoryId first = memory_of(range);
            EXPECT(is(DeviceMemoryKind::mapped, 0) && last.bytes == 0);
            EXPECT(memory_of(range + kLarge) != first && is(DeviceMemoryKind::mapped, 1));
            EXPECT(memory_of(range) == first);
          }) == 0);
}

TEST_CASE("cuda layer: memory without an id is known as long as it is what it was") {
  CHECK(run_alone({{"VIRTUAL_GPU_TELLS_LESS", "1"}}, [] {
          use_device(0);
          static char own[100];
          WELL(cuMemHostRegister(own, sizeof own, 0));
          const MemoryId registered = memory_of(own);
          EXPECT(is(DeviceMemoryKind::pinned, -1) && memory_of(own) == registered);
          WELL(cuMemHostUnregister(own));
          EXPECT(memory_of(own) == log::kHostMemory && ends == 1);
        }) == 0);
}

TEST_CASE("cuda layer: a driver that fails ends nothing, and nothing is taken for something else") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "cuPointerGetAttribute#2=700"}}, [] {
          use_device(0);
          const CUdeviceptr device = allocate();  // asked for its pool, then for its id
          const MemoryId memory = memory_of(device);
          EXPECT(memory_of(device) == log::kUnknownMemory && last_error == 700);
          EXPECT(memory_of(device) == memory && ends == 0);
        }) == 0);
  for (const char* failure :
       {"cuMemRetainAllocationHandle=700", "cuMemGetAllocationPropertiesFromHandle=700"}) {
    CHECK(run_alone({{"VIRTUAL_GPU_FAIL", failure}}, [] {
            use_device(0);
            EXPECT(memory_of(map_pieces()) == log::kUnknownMemory && last_error == 700);
          }) == 0);
  }
  for (const char* failure : {"cuPointerGetAttributes=34", "cuPointerGetAttributes=100"}) {
    CHECK(run_alone({{"VIRTUAL_GPU_FAIL", failure}}, [] {
            char own;
            EXPECT(memory_of(&own) == log::kHostMemory && last_error == 0);
          }) == 0);
  }
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
