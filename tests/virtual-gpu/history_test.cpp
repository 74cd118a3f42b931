// The history of allocations: the plug-in as the driver loads it, on the virtual driver and its
// CUPTI, reported to this program instead of uctrace.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <cupti.h>
#include <doctest/doctest.h>

#include "device-attributor/history.h"
#include "tests/virtual-gpu/alone.hpp"

namespace {

struct Event {
  std::uint32_t type;
  std::uint64_t begin, bytes;
  std::uint32_t kind;
  std::int32_t device;
  bool operator==(const Event&) const = default;
};
std::vector<Event> events;
std::string text;
CUresult asked = CUDA_SUCCESS;  // what the driver answers where the plug-in calls

const char* const kPlugin = HISTORY_PLUGIN;

Event allocated(CUdeviceptr begin, std::size_t bytes, uctrace_device_memory_kind kind, int device) {
  return {UCTRACE_MEMORY_ALLOCATED, begin, bytes, kind, device};
}
Event freed(CUdeviceptr begin, std::size_t bytes = 0) {
  return {UCTRACE_MEMORY_FREED, begin, bytes, 0, 0};
}
CUdeviceptr number(void* address) { return reinterpret_cast<CUdeviceptr>(address); }

// Exactly these events since the last check.
bool told(const std::vector<Event>& expected) {
  const bool same = events == expected;
  for (const Event& event : same ? std::vector<Event>() : events) {
    std::fprintf(stderr, "told: %u %llx %llu kind %u device %d\n", event.type,
                 static_cast<unsigned long long>(event.begin),
                 static_cast<unsigned long long>(event.bytes), event.kind, event.device);
  }
  events.clear();
  return same;
}

// In the environment of the job.
int with_plugin(void (*body)(), Environment more = {}) {
  more.emplace_back("CUDA_INJECTION64_PATH", kPlugin);
  return run_alone(more, body);
}

void begin(CUdevice device) {
  use_device(device);
  EXPECT(told({{UCTRACE_HISTORY_BEGINS, 0, 0, 0, 0}}));
  EXPECT(text == "CUPTI, version 130001");
}

CUmemGenericAllocationHandle create(CUmemLocation location) {
  CUmemAllocationProp properties = on_device(0);
  properties.location = location;
  CUmemGenericAllocationHandle handle;
  WELL(cuMemCreate(&handle, kLarge, &properties, 0));
  return handle;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void uctrace_device_event(
    const struct uctrace_device_event* event) {
  EXPECT(event->version == UCTRACE_DEVICE_EVENT_VERSION);
  events.push_back({event->type, event->begin, event->bytes, event->kind, event->device});
  if (event->text != nullptr) text = event->text;
  int version;
  asked = cuDriverGetVersion(&version);
}

TEST_CASE("history: memory of each kind, with its device, and its end before it is over") {
  CHECK(with_plugin([] {
          begin(1);
          CUdeviceptr memory = allocate();
          WELL(cuMemFree(memory));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_DEVICE, 1), freed(memory)}));
          std::size_t pitch;
          WELL(cuMemAllocPitch(&memory, &pitch, 100, 10, 4));
          WELL(cuMemFree(memory));
          EXPECT(told({allocated(memory, 10 * pitch, UCTRACE_MEMORY_DEVICE, 1), freed(memory)}));
          WELL(cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL));
          WELL(cuMemFree(memory));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_MANAGED, 1), freed(memory)}));
          void* host;
          WELL(cuMemHostAlloc(&host, kBytes, 0));
          WELL(cuMemFreeHost(host));
          EXPECT(told(
              {allocated(number(host), kBytes, UCTRACE_MEMORY_PINNED, -1), freed(number(host))}));
          WELL(cuMemAllocHost(&host, kBytes));
          WELL(cuMemFreeHost(host));
          EXPECT(told(
              {allocated(number(host), kBytes, UCTRACE_MEMORY_PINNED, -1), freed(number(host))}));
          static char own[kBytes];
          WELL(cuMemHostRegister(own, kBytes, 0));
          WELL(cuMemHostUnregister(own));
          EXPECT(told(
              {allocated(number(own), kBytes, UCTRACE_MEMORY_PINNED, -1), freed(number(own))}));
        }) == 0);
}

TEST_CASE("history: memory of pools, also of another device's than the current one") {
  CHECK(with_plugin([] {
          begin(0);
          CUdeviceptr memory;
          CUmemoryPool pool;
          CUstream stream;
          CUcontext here, there;
          WELL(cuMemAllocAsync(&memory, kBytes, nullptr));
          WELL(cuMemFreeAsync(memory, nullptr));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_POOL, 0), freed(memory)}));
          CUmemPoolProps properties{};
          properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
          properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
          WELL(cuMemPoolCreate(&pool, &properties));
          WELL(cuMemAllocFromPoolAsync(&memory, kBytes, pool, nullptr));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_POOL, 1)}));
          WELL(cuMemFree(memory));
          EXPECT(told({freed(memory)}));
          WELL(cuMemPoolDestroy(pool));
          WELL(cuDeviceGetDefaultMemPool(&pool, 1));
          WELL(cuMemAllocFromPoolAsync(&memory, kBytes, pool, nullptr));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_POOL, 1)}));
          // A stream says which device's pool it is. Of one that is not of the current context,
          // CUPTI cannot tell.
          WELL(cuStreamCreate(&stream, 0));
          WELL(cuMemAllocAsync(&memory, kBytes, stream));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_POOL, 0)}));
          WELL(cuDevicePrimaryCtxRetain(&there, 1));
          WELL(cuCtxGetCurrent(&here));
          WELL(cuCtxSetCurrent(there));
          WELL(cuMemAllocAsync(&memory, kBytes, stream));
          EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_UNKNOWN, -1)}));
        }) == 0);
}

TEST_CASE("history: mappings, by where their physical memory is") {
  CHECK(with_plugin([] {
          begin(0);
          CUdeviceptr range;
          WELL(cuMemAddressReserve(&range, 3 * kLarge, 0, 0, 0));
          const auto device = create({CU_MEM_LOCATION_TYPE_DEVICE, 1});
          const auto host = create({CU_MEM_LOCATION_TYPE_HOST, 0});
          int file;
          CUmemGenericAllocationHandle imported;
          WELL(cuMemExportToShareableHandle(&file, device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                            0));
          WELL(cuMemImportFromShareableHandle(
              &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
          EXPECT(told({}));
          WELL(cuMemMap(range, kLarge, 0, device, 0));
          WELL(cuMemMap(range + kLarge, kLarge, 0, host, 0));
          WELL(cuMemMap(range + 2 * kLarge, kLarge, 0, imported, 0));
          EXPECT(told({allocated(range, kLarge, UCTRACE_MEMORY_MAPPED, 1),
                       allocated(range + kLarge, kLarge, UCTRACE_MEMORY_MAPPED_HOST, -1),
                       allocated(range + 2 * kLarge, kLarge, UCTRACE_MEMORY_UNKNOWN, -1)}));
          WELL(cuMemUnmap(range, 3 * kLarge));
          EXPECT(told({freed(range, 3 * kLarge)}));
          WELL(cuMemMap(range, kLarge, 0, host, 0));  // another memory at the address
          EXPECT(told({allocated(range, kLarge, UCTRACE_MEMORY_MAPPED_HOST, -1)}));
        }) == 0);
}

TEST_CASE("history: what failed was not allocated, and nothing is asked of the driver meanwhile") {
  CHECK(with_plugin(
            [] {
              begin(0);
              CUdeviceptr memory = 0;
              EXPECT(cuMemAlloc(&memory, kBytes) == CUDA_ERROR_OUT_OF_MEMORY);
              EXPECT(told({}));
              memory = allocate();
              EXPECT(told({allocated(memory, kBytes, UCTRACE_MEMORY_DEVICE, 0)}));
              EXPECT(asked == CUDA_ERROR_NOT_PERMITTED);  // what this test asked
            },
            {{"VIRTUAL_GPU_FAIL", "cuMemAlloc_v2#1=2"}}) == 0);
}

TEST_CASE("history: another client of CUPTI stays, and is named") {
  CHECK(with_plugin(
            [] {
              use_device(0);
              EXPECT(told({{UCTRACE_HISTORY_REFUSED, 0, 0, 0, 0}}));
              EXPECT(text == "another tool uses CUPTI: Nsight Systems");
              allocate();
              EXPECT(told({}));
            },
            {{"VIRTUAL_CUPTI_SUBSCRIBER", "Nsight Systems"}}) == 0);
}

TEST_CASE("history: who comes to CUPTI second is refused, and told who is there") {
  CHECK(with_plugin([] {
          begin(0);
          void* const cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
          const auto function = dlsym(cupti, "cuptiSubscribe_v2");
          EXPECT(function != nullptr);
          char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
          CUpti_SubscriberHandle handle;
          CUpti_SubscriberParams params{CUpti_SubscriberParams_STRUCT_SIZE, "second", other,
                                        sizeof other};
          const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
          EXPECT(reinterpret_cast<decltype(&cuptiSubscribe_v2)>(function)(&handle, ignore, nullptr,
                                                                          &params) ==
                 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
          EXPECT(std::strcmp(other, "CUPTI for uctrace") == 0);
        }) == 0);
}
