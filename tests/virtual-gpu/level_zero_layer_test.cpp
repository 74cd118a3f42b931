// Which memory an address is in, according to the Level Zero layer on the virtual driver.
#include <level_zero/ze_api.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/virtual-gpu/layer.hpp"

namespace {

using namespace uctrace::gpu;
using namespace uctrace::gpu::test;
namespace log = uctrace::log;
using log::DeviceMemoryKind;

#define DONE(call) EXPECT((call) == ZE_RESULT_SUCCESS)

Attributor& attributor() {
  static Attributor& only = *new Attributor();
  static const bool resolved = [] {
    ask(kLevelZero, only);
    return true;
  }();
  EXPECT(resolved);
  return only;
}

MemoryId memory_of(const void* address) {
  return attributor().memory_of(reinterpret_cast<std::uintptr_t>(address));
}
bool is_known(const void* address) { return memory_of(address) >= log::kFirstDeviceMemory; }

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
char* at(void* address, std::size_t offset) { return static_cast<char*>(address) + offset; }

struct Machine {
  ze_driver_handle_t driver;
  ze_context_handle_t context;
  std::vector<ze_device_handle_t> devices;
};

Machine start() {
  Machine machine;
  std::uint32_t count = 1;
  DONE(zeInit(0));
  DONE(zeDriverGet(&count, &machine.driver));
  count = 0;
  DONE(zeDeviceGet(machine.driver, &count, nullptr));
  machine.devices.resize(count);
  DONE(zeDeviceGet(machine.driver, &count, machine.devices.data()));
  const ze_context_desc_t wanted{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  DONE(zeContextCreate(machine.driver, &wanted, &machine.context));
  return machine;
}

const ze_device_mem_alloc_desc_t kOnDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
const ze_host_mem_alloc_desc_t kOnHost{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};

void* allocate_on(const Machine& machine, ze_device_handle_t device, std::size_t bytes = kBytes) {
  void* address;
  DONE(zeMemAllocDevice(machine.context, &kOnDevice, bytes, 1, device, &address));
  return address;
}

void map(const Machine& machine, void* address, ze_device_handle_t device) {
  ze_physical_mem_handle_t physical;
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, kLarge};
  DONE(zePhysicalMemCreate(machine.context, device, &wanted, &physical));
  DONE(zeVirtualMemMap(machine.context, address, kLarge, physical, 0,
                       ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  DONE(zePhysicalMemDestroy(machine.context, physical));
}

}  // namespace

TEST_CASE("level zero layer: memory of all kinds") {
  CHECK(run_alone({}, [] {
          const Machine machine = start();
          static char own = 0;
          void *shared, *anywhere, *host;
          void* const device = allocate_on(machine, machine.devices[1]);
          DONE(zeMemAllocShared(machine.context, &kOnDevice, &kOnHost, kBytes, 1,
                                machine.devices[1], &shared));
          DONE(zeMemAllocShared(machine.context, &kOnDevice, &kOnHost, kBytes, 1, nullptr,
                                &anywhere));
          DONE(zeMemAllocHost(machine.context, &kOnHost, kBytes, 1, &host));
          EXPECT(is_known(at(device, kBytes - 1)) && is(DeviceMemoryKind::device, 1));
          EXPECT(last.begin == number(device) && last.bytes == kBytes && last.buffer_id == 0);
          EXPECT(last.vendor == log::Vendor::level_zero);
          EXPECT(is_known(shared) && is(DeviceMemoryKind::managed, 1));
          EXPECT(is_known(anywhere) && is(DeviceMemoryKind::managed, -1));
          EXPECT(is_known(host) && is(DeviceMemoryKind::pinned, -1));
          alignas(4096) static char pages[4096];
          const ze_external_memmap_sysmem_ext_desc_t these{
              ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC, nullptr, pages, sizeof pages};
          const ze_host_mem_alloc_desc_t import{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &these, 0};
          DONE(zeMemAllocHost(machine.context, &import, sizeof pages, 1, &host));
          EXPECT(host == pages && is_known(pages + 5) && is(DeviceMemoryKind::pinned, -1));
          EXPECT(last.begin == number(pages) && last.bytes == sizeof pages);
          EXPECT(memory_of(&own) == log::kHostMemory);
        }) == 0);
}

TEST_CASE("level zero layer: an address that is used again is another memory") {
  CHECK(run_alone({}, [] {
          const Machine machine = start();
          void* const first = allocate_on(machine, machine.devices[0]);
          const MemoryId memory = memory_of(first);
          EXPECT(memory_of(at(first, 100)) == memory);
          DONE(zeMemFree(machine.context, first));
          EXPECT(memory_of(first) == log::kHostMemory && ends == 1);
          EXPECT(allocate_on(machine, machine.devices[0]) == first);
          const MemoryId second = memory_of(first);
          EXPECT(second != memory && second >= log::kFirstDeviceMemory);
          // Freed and allocated between two uses: an allocation equal in everything that the driver
          // reports is distinguished by UCX's memory events.
          DONE(zeMemFree(machine.context, first));
          EXPECT(allocate_on(machine, machine.devices[0], 2 * kBytes) == first);
          const MemoryId longer = memory_of(first);
          EXPECT(longer != second && last.bytes == 2 * kBytes && ends == 2);
          EXPECT(memory_of(first) == longer);
          attributor().forget(number(first), kBytes);
          EXPECT(memory_of(first) != longer);
        }) == 0);
}

// Freed memory of a pool still has the pool's properties.
TEST_CASE("level zero layer: memory that lies nowhere is the host's, whatever its properties") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "zeMemGetAddressRange#2=0x78000021"}}, [] {
          const Machine machine = start();
          void* const device = allocate_on(machine, machine.devices[0]);
          const MemoryId memory = memory_of(device);
          EXPECT(memory >= log::kFirstDeviceMemory);
          EXPECT(memory_of(device) == log::kHostMemory && ends == 1 && last_error == 0);
          EXPECT(is_known(device) && memory_of(device) != memory);
        }) == 0);
}

namespace {

// A range of addresses in which a piece is of the first GPU and one of the second.
void use_pieces() {
  const Machine machine = start();
  void* range;
  DONE(zeVirtualMemReserve(machine.context, nullptr, 3 * kLarge, &range));
  EXPECT(memory_of(range) == log::kHostMemory);  // there is nothing yet
  map(machine, range, machine.devices[0]);
  map(machine, at(range, kLarge), machine.devices[1]);
  const MemoryId first = memory_of(at(range, 100));
  EXPECT(is(DeviceMemoryKind::mapped, 0));
  EXPECT(last.begin == number(range) && last.bytes == kLarge);
  const MemoryId second = memory_of(at(range, kLarge + 100));
  EXPECT(second != first && is(DeviceMemoryKind::mapped, 1));
  EXPECT(memory_of(range) == first && memory_of(at(range, kLarge)) == second && ends == 0);
  DONE(zeVirtualMemUnmap(machine.context, range, kLarge));
  map(machine, range, machine.devices[1]);
  EXPECT(memory_of(range) != first && is(DeviceMemoryKind::mapped, 1) && ends == 1);
}

}  // namespace

TEST_CASE("level zero layer: pieces of one range are each their own, with an id or without") {
  CHECK(run_alone({}, use_pieces) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_TELLS_LESS", "1"}}, use_pieces) == 0);
}

TEST_CASE("level zero layer: memory of another process is of the GPU that it is opened for") {
  int handles[2];
  REQUIRE(pipe(handles) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const Machine machine = start();
    ze_ipc_mem_handle_t handle;
    DONE(zeMemGetIpcHandle(machine.context, allocate_on(machine, machine.devices[0]), &handle));
    EXPECT(write(handles[1], &handle, sizeof handle) == sizeof handle);
    pause();
    std::_Exit(0);
  }
  static ze_ipc_mem_handle_t handle;
  REQUIRE(read(handles[0], &handle, sizeof handle) == sizeof handle);
  CHECK(run_alone({}, [] {
          const Machine machine = start();
          void* opened;
          DONE(zeMemOpenIpcHandle(machine.context, machine.devices[1], handle, 0, &opened));
          EXPECT(is_known(opened) && is(DeviceMemoryKind::device, 1));
          EXPECT(last.begin == number(opened) && last.bytes == kBytes);
          DONE(zeMemCloseIpcHandle(machine.context, opened));
          EXPECT(memory_of(opened) == log::kHostMemory && ends == 1);
        }) == 0);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
}

TEST_CASE("level zero layer: a driver that was not initialised has no memory") {
  CHECK(run_alone({}, [] {
          static char own = 0;
          EXPECT(memory_of(&own) == log::kHostMemory && last_error == 0);
          EXPECT(kLevelZero.device_count() == 0 && kLevelZero.version() == 0);
          const Machine machine = start();
          EXPECT(kLevelZero.device_count() == 2 && kLevelZero.version() == 1030);
          EXPECT(is_known(allocate_on(machine, machine.devices[0])));
        }) == 0);
}

TEST_CASE(
    "level zero layer: a driver that fails ends nothing, and nothing is taken for the host's") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "zeMemGetAllocProperties#2=0x70000001"}}, [] {
          const Machine machine = start();
          void* const device = allocate_on(machine, machine.devices[0]);
          const MemoryId memory = memory_of(device);
          EXPECT(memory_of(device) == log::kUnknownMemory);
          EXPECT(last_error == ZE_RESULT_ERROR_DEVICE_LOST);
          EXPECT(memory_of(device) == memory && ends == 0);
        }) == 0);
  // No context, no answer: until there is one.
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "zeContextCreate#2=0x70000003"}}, [] {
          const Machine machine = start();
          static char own = 0;
          EXPECT(memory_of(&own) == log::kUnknownMemory);
          EXPECT(last_error == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
          EXPECT(memory_of(&own) == log::kHostMemory);
          EXPECT(is_known(allocate_on(machine, machine.devices[0])));
        }) == 0);
  // Where it ends is not told.
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "zeMemGetAddressRange=0x78000004"}}, [] {
          const Machine machine = start();
          EXPECT(is_known(allocate_on(machine, machine.devices[0])) && last.bytes == 0);
        }) == 0);
}

namespace {

const std::string kCalls =
    std::filesystem::temp_directory_path() / ("level-zero-calls-" + std::to_string(getpid()));

// How often the process has called a function of the driver; "": any.
unsigned calls_of(pid_t process, const std::string& function) {
  std::ifstream file(kCalls);
  unsigned count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    pid_t caller;
    std::string called;
    words >> caller >> called;
    count += caller == process && (function.empty() || called == function);
  }
  return count;
}

}  // namespace

TEST_CASE("level zero layer: a loader that was torn down has not made device memory the host's") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "zeMemGetAllocProperties#2=0x78000001"}}, [] {
          const Machine machine = start();
          void* const device = allocate_on(machine, machine.devices[0]);
          const MemoryId memory = memory_of(device);
          EXPECT(memory_of(device) == log::kUnknownMemory);
          EXPECT(last_error == ZE_RESULT_ERROR_UNINITIALIZED);
          EXPECT(memory_of(device) == memory && ends == 0);
        }) == 0);
}

TEST_CASE("level zero layer: what is not there is looked for once, what fails a few times") {
  // A driver none of whose devices is a GPU.
  std::filesystem::remove(kCalls);
  CHECK(run_alone({{"VIRTUAL_GPU_TRACE", kCalls.c_str()},
                   {"VIRTUAL_GPU_FAIL", "zeDeviceGetProperties=0x78000003"}},
                  [] {
                    static char own = 0;
                    DONE(zeInit(0));
                    for (int i = 0; i < 20; ++i) EXPECT(memory_of(&own) == log::kHostMemory);
                    EXPECT(last_error == 0 && calls_of(getpid(), "zeDriverGet") == 1);
                    EXPECT(kLevelZero.device_count() == 0 &&
                           calls_of(getpid(), "zeDriverGet") == 2);
                  }) == 0);
  // One of which no context can be had.
  std::filesystem::remove(kCalls);
  CHECK(run_alone({{"VIRTUAL_GPU_TRACE", kCalls.c_str()},
                   {"VIRTUAL_GPU_FAIL", "zeContextCreate=0x70000003"}},
                  [] {
                    static char own = 0;
                    DONE(zeInit(0));
                    for (int i = 0; i < 20; ++i) EXPECT(memory_of(&own) == log::kUnknownMemory);
                    EXPECT(last_error == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
                    EXPECT(calls_of(getpid(), "zeContextCreate") == 8);
                    EXPECT(kLevelZero.device_count() == 2);
                    EXPECT(calls_of(getpid(), "zeContextCreate") == 9);
                  }) == 0);
  std::filesystem::remove(kCalls);
}

TEST_CASE("level zero layer: a fork child asks nothing before it begins anew") {
  std::filesystem::remove(kCalls);
  CHECK(run_alone({{"VIRTUAL_GPU_TRACE", kCalls.c_str()}}, [] {
          static const Machine machine = start();
          static void* const device = allocate_on(machine, machine.devices[1]);
          EXPECT(is_known(device));
          EXPECT(run_alone({}, [] {
                   DeviceFacts facts{};
                   EXPECT(kLevelZero.query(number(device)).what == Answer::What::host);
                   EXPECT(kLevelZero.device_count() == 0 && kLevelZero.version() == 0);
                   EXPECT(!kLevelZero.describe(0, facts));
                   EXPECT(calls_of(getpid(), "") == 0);
                   kLevelZero.start_anew();
                   EXPECT(calls_of(getpid(), "") == 0);
                   const Answer answer = kLevelZero.query(number(device));
                   EXPECT(answer.what == Answer::What::known && answer.device == 1);
                   EXPECT(calls_of(getpid(), "zeContextCreate") == 1);  // one of its own
                 }) == 0);
          EXPECT(is_known(device));
        }) == 0);
  std::filesystem::remove(kCalls);
}

TEST_CASE("level zero layer: GPUs and their tiles are what they are, however they are counted") {
  CHECK(run_alone({{"ZE_AFFINITY_MASK", "1,0"}}, [] {
          const Machine machine = start();
          DeviceFacts first{}, second{};
          EXPECT(is_known(allocate_on(machine, machine.devices[0])) && last.device == 0);
          EXPECT(kLevelZero.describe(0, first) && kLevelZero.describe(1, second));
          EXPECT(first.pci_bus == 0x28 && second.pci_bus == 0x18);
          EXPECT(std::memcmp(first.uuid, second.uuid, sizeof first.uuid) != 0);
          EXPECT(std::memcmp(first.uuid, first.gpu_uuid, sizeof first.uuid) == 0);
          EXPECT(first.memory_bytes == std::size_t{16} << 30);
          EXPECT(std::string(first.name) == "Virtual Data Center GPU Max");
          EXPECT(!kLevelZero.describe(2, first) && !kLevelZero.describe(-1, first));
        }) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_MIG", "2"}}, [] {
          const Machine machine = start();
          ze_device_handle_t tiles[2];
          std::uint32_t count = 2;
          DeviceFacts whole{}, tile{};
          DONE(zeDeviceGetSubDevices(machine.devices[1], &count, tiles));
          // Of the GPUs there are two before memory of a tile is met.
          EXPECT(is_known(allocate_on(machine, tiles[1])) && is(DeviceMemoryKind::device, 2));
          EXPECT(kLevelZero.describe(1, whole) && kLevelZero.describe(2, tile));
          EXPECT(std::memcmp(tile.uuid, whole.uuid, sizeof tile.uuid) != 0);
          EXPECT(std::memcmp(tile.gpu_uuid, whole.uuid, sizeof tile.uuid) == 0);
          EXPECT(tile.pci_bus == whole.pci_bus);
        }) == 0);
}
