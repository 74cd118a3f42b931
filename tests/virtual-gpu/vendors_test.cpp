// Drivers of several vendors in one process: each knows only its own memory.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <level_zero/ze_api.h>

#include <cstring>

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
  return only;
}

template <typename Address>
MemoryId memory_of(Address address) {
  return attributor().memory_of((std::uintptr_t)address);
}

// Memory of the second GPU of each.
void* allocate_rocm() {
  void* address;
  EXPECT(hsa_init() == HSA_STATUS_SUCCESS);
  hsa_agent_t second{};
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* last_one) {
        *static_cast<hsa_agent_t*>(last_one) = agent;
        return HSA_STATUS_SUCCESS;
      },
      &second);
  EXPECT(hsa_amd_memory_pool_allocate({second.handle}, kBytes, 0, &address) == HSA_STATUS_SUCCESS);
  return address;
}

void* allocate_level_zero() {
  ze_driver_handle_t driver;
  ze_device_handle_t devices[2];
  ze_context_handle_t context;
  std::uint32_t one = 1, two = 2;
  void* address;
  const ze_context_desc_t wanted{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  EXPECT(zeInit(0) == ZE_RESULT_SUCCESS && zeDriverGet(&one, &driver) == ZE_RESULT_SUCCESS);
  EXPECT(zeDeviceGet(driver, &two, devices) == ZE_RESULT_SUCCESS);
  EXPECT(zeContextCreate(driver, &wanted, &context) == ZE_RESULT_SUCCESS);
  EXPECT(zeMemAllocDevice(context, nullptr, kBytes, 1, devices[1], &address) == ZE_RESULT_SUCCESS);
  return address;
}

CUdeviceptr allocate_cuda() {
  use_device(1);
  return allocate();
}

template <typename Address>
bool is_of(log::Vendor vendor, Address address) {
  return memory_of(address) >= log::kFirstDeviceMemory && last.vendor == vendor &&
         is(DeviceMemoryKind::device, 1) && last.begin == (std::uintptr_t)address;
}

void ask_all() {
  for (const Vendor* one : {&kCuda, &kRocm, &kLevelZero}) ask(*one, attributor());
}

}  // namespace

TEST_CASE("vendors: each driver knows its own memory, and none the host's") {
  CHECK(run_alone({}, [] {
          ask_all();
          static char own = 0;
          const CUdeviceptr of_cuda = allocate_cuda();
          void *const of_rocm = allocate_rocm(), *const of_level_zero = allocate_level_zero();
          EXPECT(is_of(log::Vendor::rocm, of_rocm));
          EXPECT(is_of(log::Vendor::cuda, of_cuda));
          EXPECT(is_of(log::Vendor::level_zero, of_level_zero));
          EXPECT(memory_of(&own) == log::kHostMemory);
          const auto cuda = static_cast<std::uintptr_t>(of_cuda);
          EXPECT(!attributor().is_same_place(cuda, (std::uintptr_t)of_rocm));
          EXPECT(attributor().is_same_place(cuda, cuda + 1));
          EXPECT(ends == 0 && last_error == 0);
          // Known memory is confirmed by its own driver.
          EXPECT(memory_of(of_cuda) == memory_of(of_cuda + 5));
          EXPECT(memory_of(of_level_zero) == memory_of(of_level_zero));
        }) == 0);
}

TEST_CASE("vendors: a driver that comes later is asked, and knows what the first one did not") {
  CHECK(run_alone({}, [] {
          ask(kCuda, attributor());
          void* const of_rocm = allocate_rocm();
          EXPECT(memory_of(of_rocm) == log::kHostMemory);
          ask(kRocm, attributor());
          EXPECT(is_of(log::Vendor::rocm, of_rocm));
        }) == 0);
}

TEST_CASE("vendors: what one driver cannot tell is unknown, unless another one knows it") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "hsa_amd_pointer_info=0x1000"}}, [] {
          ask_all();
          static char own = 0;
          const CUdeviceptr of_cuda = allocate_cuda();
          allocate_rocm();
          EXPECT(is_of(log::Vendor::cuda, of_cuda));
          EXPECT(is_of(log::Vendor::level_zero, allocate_level_zero()));
          EXPECT(memory_of(&own) == log::kUnknownMemory && last_error == HSA_STATUS_ERROR);
        }) == 0);
}

TEST_CASE("vendors: beside a driver that cannot be asked nothing is said to be the host's") {
  CHECK(run_alone({}, [] {
          ask(kCuda, attributor());
          attributor().distrust_host();
          static char own = 0;
          EXPECT(is_of(log::Vendor::cuda, allocate_cuda()));
          EXPECT(memory_of(&own) == log::kUnknownMemory && last_error == kUnusableDriver);
        }) == 0);
}
