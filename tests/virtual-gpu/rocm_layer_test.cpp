// Which memory an address is in, according to the ROCm layer on the virtual driver.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <cstring>
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

#define DONE(call) EXPECT((call) == HSA_STATUS_SUCCESS)

Attributor& attributor() {
  static Attributor& only = *new Attributor();
  static const bool resolved = [] {
    ask(kRocm, only);
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

// The host's, then those of the GPUs.
std::vector<hsa_agent_t> start() {
  std::vector<hsa_agent_t> agents;
  DONE(hsa_init());
  DONE(hsa_iterate_agents(
      [](hsa_agent_t agent, void* all) {
        static_cast<std::vector<hsa_agent_t>*>(all)->push_back(agent);
        return HSA_STATUS_SUCCESS;
      },
      &agents));
  return agents;
}

hsa_amd_memory_pool_t pool_of(hsa_agent_t agent) {
  hsa_amd_memory_pool_t pool{};
  DONE(hsa_amd_agent_iterate_memory_pools(
      agent,
      [](hsa_amd_memory_pool_t one, void* found) {
        *static_cast<hsa_amd_memory_pool_t*>(found) = one;
        return HSA_STATUS_SUCCESS;
      },
      &pool));
  return pool;
}

void* allocate_on(hsa_agent_t agent) {
  void* address;
  DONE(hsa_amd_memory_pool_allocate(pool_of(agent), kBytes, 0, &address));
  return address;
}

void map(void* address, hsa_agent_t agent) {
  hsa_amd_vmem_alloc_handle_t handle;
  DONE(hsa_amd_vmem_handle_create(pool_of(agent), kLarge, MEMORY_TYPE_PINNED, 0, &handle));
  DONE(hsa_amd_vmem_map(address, kLarge, 0, handle, 0));
  DONE(hsa_amd_vmem_handle_release(handle));
}

}  // namespace

TEST_CASE("rocm layer: memory of all kinds") {
  CHECK(run_alone({}, [] {
          const auto agents = start();
          static char own[100];
          void *range, *of_agents;
          void* const device = allocate_on(agents[2]);
          void* const pinned = allocate_on(agents[0]);
          EXPECT(is_known(at(device, kBytes - 1)) && is(DeviceMemoryKind::device, 1));
          EXPECT(last.begin == number(device) && last.bytes == kBytes && last.buffer_id == 0);
          EXPECT(last.vendor == log::Vendor::rocm);
          EXPECT(is_known(at(pinned, 1)) && is(DeviceMemoryKind::pinned, -1));
          EXPECT(last.begin == number(pinned) && last.bytes == kBytes);
          EXPECT(memory_of(own) == log::kHostMemory);
          DONE(hsa_amd_memory_lock(own, sizeof own, nullptr, 0, &of_agents));
          EXPECT(is_known(own + 50) && is(DeviceMemoryKind::pinned, -1));
          EXPECT(last.begin == number(own) && last.bytes == sizeof own);
          DONE(hsa_amd_memory_unlock(own));
          EXPECT(memory_of(own) == log::kHostMemory && ends == 1);
          DONE(hsa_amd_vmem_address_reserve(&range, 3 * kLarge, 0, 0));
          EXPECT(memory_of(range) == log::kHostMemory);  // there is nothing yet
          map(range, agents[1]);
          map(at(range, kLarge), agents[0]);
          EXPECT(is_known(range) && is(DeviceMemoryKind::mapped, 0));
          EXPECT(is_known(at(range, kLarge)) && is(DeviceMemoryKind::mapped_host, -1));
        }) == 0);
}

TEST_CASE(
    "rocm layer: of mapped memory an address is known alone, for where it begins is not told") {
  CHECK(run_alone({}, [] {
          const auto agents = start();
          void* range;
          DONE(hsa_amd_vmem_address_reserve(&range, kLarge, 0, 0));
          map(range, agents[1]);
          const MemoryId first = memory_of(at(range, 10));
          EXPECT(last.bytes == 0 && memory_of(at(range, 10)) == first);
          EXPECT(memory_of(at(range, 20)) != first && is(DeviceMemoryKind::mapped, 0));
          DONE(hsa_amd_vmem_unmap(range, kLarge));
          EXPECT(memory_of(at(range, 10)) == log::kHostMemory && ends == 1);
          map(range, agents[2]);
          EXPECT(memory_of(at(range, 10)) != first && is(DeviceMemoryKind::mapped, 1));
        }) == 0);
  // A runtime before AMD's extension 1.12 does not know it.
  CHECK(run_alone({{"VIRTUAL_GPU_TELLS_LESS", "1"}}, [] {
          const auto agents = start();
          void* range;
          DONE(hsa_amd_vmem_address_reserve(&range, kLarge, 0, 0));
          map(range, agents[1]);
          EXPECT(memory_of(range) == log::kHostMemory);
        }) == 0);
}

TEST_CASE("rocm layer: an address that is used again is asked about again") {
  CHECK(run_alone({}, [] {
          const auto agents = start();
          void* const first = allocate_on(agents[1]);
          const MemoryId memory = memory_of(first);
          EXPECT(memory_of(first) == memory);
          DONE(hsa_amd_memory_pool_free(first));
          EXPECT(memory_of(first) == log::kHostMemory && ends == 1);
          void* again;
          DONE(hsa_amd_memory_pool_allocate(pool_of(agents[1]), 2 * kBytes, 0, &again));
          EXPECT(again == first && memory_of(again) != memory && last.bytes == 2 * kBytes);
          DONE(hsa_amd_memory_pool_free(again));
          // An allocation equal in everything that the driver reports is distinguished by UCX's
          // memory events.
          void* const like = allocate_on(agents[1]);
          const MemoryId other = memory_of(like);
          EXPECT(like == first && memory_of(like) == other);
          attributor().forget(number(like), kBytes);
          EXPECT(memory_of(like) != other);
        }) == 0);
}

TEST_CASE("rocm layer: memory of another process is of the GPU that it is mapped for") {
  int handles[2];
  REQUIRE(pipe(handles) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const auto agents = start();
    hsa_amd_ipc_memory_t handle;
    DONE(hsa_amd_ipc_memory_create(allocate_on(agents[1]), kBytes, &handle));
    EXPECT(write(handles[1], &handle, sizeof handle) == sizeof handle);
    pause();
    std::_Exit(0);
  }
  static hsa_amd_ipc_memory_t handle;
  REQUIRE(read(handles[0], &handle, sizeof handle) == sizeof handle);
  CHECK(run_alone({}, [] {
          const auto agents = start();
          void* mapped;
          DONE(hsa_amd_ipc_memory_attach(&handle, kBytes, 1, &agents[2], &mapped));
          EXPECT(is_known(mapped) && is(DeviceMemoryKind::imported, 1));
          EXPECT(last.begin == number(mapped) && last.bytes == kBytes);
          DONE(hsa_amd_ipc_memory_detach(mapped));
          EXPECT(memory_of(mapped) == log::kHostMemory && ends == 1);
        }) == 0);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
}

TEST_CASE(
    "rocm layer: a driver that was not initialised has no memory, nor one that was shut down") {
  CHECK(run_alone({}, [] {
          static char own = 0;
          EXPECT(memory_of(&own) == log::kHostMemory && last_error == 0);
          EXPECT(kRocm.device_count() == 0 && kRocm.version() == 0);
          const auto agents = start();
          EXPECT(kRocm.device_count() == 2 && kRocm.version() == 1010);
          void* const device = allocate_on(agents[1]);
          EXPECT(is_known(device));
          DONE(hsa_shut_down());
          EXPECT(memory_of(device) == log::kHostMemory && last_error == 0 && ends == 1);
        }) == 0);
}

TEST_CASE("rocm layer: a driver that fails ends nothing, and nothing is taken for the host's") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "hsa_amd_pointer_info#2=0x1000"}}, [] {
          const auto agents = start();
          void* const device = allocate_on(agents[1]);
          const MemoryId memory = memory_of(device);
          EXPECT(memory_of(device) == log::kUnknownMemory && last_error == HSA_STATUS_ERROR);
          EXPECT(memory_of(device) == memory && ends == 0);
        }) == 0);
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "hsa_amd_pointer_info=0x1008"}}, [] {
          start();
          static char own = 0;
          EXPECT(memory_of(&own) == log::kUnknownMemory && last_error == 0x1008);
        }) == 0);
  // The owner cannot be determined: it belongs to an unknown GPU.
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "hsa_agent_get_info=0x1004"}}, [] {
          const auto agents = start();
          void* const device = allocate_on(agents[1]);
          EXPECT(memory_of(device) == log::kUnknownMemory && last_error == kUnknownLocation);
        }) == 0);
}

TEST_CASE("rocm layer: GPUs are what they are, however they are counted") {
  CHECK(run_alone({{"ROCR_VISIBLE_DEVICES", "1,0"}}, [] {
          const auto agents = start();
          DeviceFacts first{}, second{};
          EXPECT(is_known(allocate_on(agents[1])) && last.device == 0);
          EXPECT(kRocm.device_count() == 2);
          EXPECT(kRocm.describe(0, first) && kRocm.describe(1, second));
          EXPECT(first.pci_bus == 0x24 && second.pci_bus == 0x14);
          EXPECT(first.pci_device == 0 && first.pci_function == 0 && first.pci_domain == 0);
          EXPECT(std::memcmp(first.uuid, second.uuid, sizeof first.uuid) != 0);
          EXPECT(std::memcmp(first.uuid, first.gpu_uuid, sizeof first.uuid) == 0);
          EXPECT(first.uuid[0] != 0 && first.uuid[8] == 0);
          EXPECT(first.memory_bytes == std::size_t{16} << 30);
          EXPECT(std::string(first.name) == "Virtual Instinct");
          EXPECT(!kRocm.describe(2, first) && !kRocm.describe(-1, first));
        }) == 0);
  // A GPU without a UUID has zeros.
  CHECK(run_alone({{"VIRTUAL_GPU_TELLS_LESS", "1"}}, [] {
          start();
          DeviceFacts facts{};
          EXPECT(attributor().memory_of(0) == log::kHostMemory && kRocm.device_count() == 2);
          EXPECT(kRocm.describe(1, facts) && facts.pci_bus == 0x24 && facts.uuid[0] == 0);
        }) == 0);
}

TEST_CASE(
    "virtual ROCm: a copy is over once its signal was looked at often enough, or waited for") {
  CHECK(run_alone({{"VIRTUAL_GPU_POLLS", "2"}}, [] {
          const auto agents = start();
          static char sent[100] = "contents", got[100];
          void* const device = allocate_on(agents[1]);
          void* of_agents;
          DONE(hsa_amd_memory_lock(sent, sizeof sent, nullptr, 0, &of_agents));
          hsa_signal_t signal;
          DONE(hsa_signal_create(1, 0, nullptr, &signal));
          DONE(hsa_amd_memory_async_copy(device, agents[1], of_agents, agents[1], sizeof sent, 0,
                                         nullptr, signal));
          EXPECT(hsa_signal_load_scacquire(signal) == 1);
          EXPECT(hsa_signal_load_scacquire(signal) == 1);
          EXPECT(hsa_signal_load_scacquire(signal) == 0);
          hsa_signal_store_screlease(signal, 1);
          DONE(hsa_amd_memory_async_copy(got, agents[0], device, agents[1], sizeof got, 0, nullptr,
                                         signal));
          EXPECT(got[0] == 0);
          EXPECT(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                           HSA_WAIT_STATE_ACTIVE) == 0);
          EXPECT(std::strcmp(got, "contents") == 0);
          DONE(hsa_signal_destroy(signal));
          EXPECT(hsa_signal_destroy(signal) != HSA_STATUS_SUCCESS);
        }) == 0);
}
