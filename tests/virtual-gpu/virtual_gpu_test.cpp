// The behaviour of the virtual GPUs that the tests rely on.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/virtual-gpu/alone.hpp"

// The first form of a function whose plain name means its later one.
#undef cuDeviceGetUuid
extern "C" CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);

namespace {

template <typename Value>
Value attribute(CUdeviceptr address, CUpointer_attribute which) {
  Value value;
  WELL(cuPointerGetAttribute(&value, which, address));
  return value;
}

unsigned long long buffer_id(CUdeviceptr address) {
  return attribute<unsigned long long>(address, CU_POINTER_ATTRIBUTE_BUFFER_ID);
}

unsigned char* pointer(CUdeviceptr address) { return reinterpret_cast<unsigned char*>(address); }

}  // namespace

TEST_CASE("virtual GPUs: a touch by the CPU ends the process, a read by another call fails") {
  CHECK(run_alone({}, [] {
          use_device(0);
          *pointer(allocate()) = 1;
        }) == -SIGSEGV);
  CHECK(run_alone({}, [] {
          use_device(0);
          char byte;
          const iovec mine{&byte, 1}, its{pointer(allocate()), 1};
          EXPECT(process_vm_readv(getpid(), &mine, 1, &its, 1, 0) < 0 && errno == EFAULT);
        }) == 0);
}

TEST_CASE("virtual GPUs: contents go from the host to a device, to another one and back") {
  CHECK(run_alone({}, [] {
          std::string sent(kBytes, 'x'), got(kBytes, ' ');
          sent[kBytes - 1] = 'y';
          use_device(0);
          const CUdeviceptr first = allocate();
          WELL(cuMemcpyHtoD(first, sent.data(), kBytes));
          use_device(1);
          const CUdeviceptr second = allocate();
          WELL(cuMemcpyDtoD(second, first, kBytes));
          WELL(cuMemcpyDtoH(got.data(), second, kBytes));
          EXPECT(got == sent);
          EXPECT(cuMemcpyDtoH(got.data(), second, 2 * kBytes) == CUDA_ERROR_INVALID_VALUE);
        }) == 0);
}

TEST_CASE("virtual GPUs: an address is used again at once, an id never") {
  CHECK(run_alone({}, [] {
          use_device(0);
          const CUdeviceptr first = allocate();
          const unsigned long long id = buffer_id(first);
          WELL(cuMemFree(first));
          unsigned long long gone;
          EXPECT(cuPointerGetAttribute(&gone, CU_POINTER_ATTRIBUTE_BUFFER_ID, first) ==
                 CUDA_ERROR_INVALID_VALUE);
          CUdeviceptr again;
          WELL(cuMemAllocAsync(&again, kBytes, nullptr));
          EXPECT(again == first && buffer_id(again) != id);
          EXPECT(attribute<CUcontext>(again, CU_POINTER_ATTRIBUTE_CONTEXT) == nullptr);
        }) == 0);
}

TEST_CASE("virtual GPUs: addresses are the same in each process and apart for each device") {
  CHECK(run_alone({}, [] {
          use_device(0);
          const CUdeviceptr first = allocate();
          use_device(1);
          const CUdeviceptr second = allocate();
          EXPECT(first == 0x200000000000 && second > first + (std::size_t{1} << 30));
          EXPECT(attribute<int>(first, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == 0);
          EXPECT(attribute<int>(second + kBytes - 1, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == 1);
        }) == 0);
}

TEST_CASE("virtual GPUs: managed and pinned memory is the CPU's, too") {
  CHECK(run_alone({}, [] {
          use_device(1);
          CUdeviceptr managed;
          void* pinned;
          WELL(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
          WELL(cuMemHostAlloc(&pinned, kBytes, 0));
          std::memset(pointer(managed), 7, kBytes);
          WELL(cuMemcpy(reinterpret_cast<CUdeviceptr>(pinned), managed, kBytes));
          EXPECT(static_cast<char*>(pinned)[kBytes - 1] == 7);
          EXPECT(attribute<unsigned>(managed, CU_POINTER_ATTRIBUTE_IS_MANAGED) == 1);
          EXPECT(attribute<unsigned>(reinterpret_cast<CUdeviceptr>(pinned),
                                     CU_POINTER_ATTRIBUTE_MEMORY_TYPE) == CU_MEMORYTYPE_HOST);
        }) == 0);
}

TEST_CASE("virtual GPUs: what is queued is not there before somebody has waited for it") {
  CHECK(run_alone({{"VIRTUAL_GPU_POLLS", "2"}}, [] {
          use_device(0);
          const CUdeviceptr from = allocate();
          CUdeviceptr to;
          WELL(cuMemAllocManaged(&to, kBytes, CU_MEM_ATTACH_GLOBAL));
          CUstream stream;
          CUevent event;
          WELL(cuMemsetD8(from, 5, kBytes));
          WELL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
          WELL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
          WELL(cuMemcpyAsync(to, from, kBytes, stream));
          WELL(cuEventRecord(event, stream));
          EXPECT(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
          EXPECT(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
          EXPECT(*pointer(to) == 0);
          EXPECT(cuEventQuery(event) == CUDA_SUCCESS);
          EXPECT(*pointer(to) == 5);
        }) == 0);
}

TEST_CASE("virtual GPUs: several copies are queued in one call, in its order") {
  CHECK(run_alone({}, [] {
          use_device(0);
          CUdeviceptr all[] = {allocate(), allocate(), allocate()};
          CUstream stream;
          WELL(cuMemsetD8(all[0], 5, kBytes));
          WELL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
          CUmemcpyAttributes attributes = {};
          attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
          size_t first = 0, bytes[] = {kBytes, kBytes / 2};
          const auto copy = [&](size_t count, size_t attribute_count) {
            return cuMemcpyBatchAsync(all + 1, all, bytes, count, &attributes, &first,
                                      attribute_count, stream);
          };
          EXPECT(copy(0, 1) == CUDA_ERROR_INVALID_VALUE);
          EXPECT(copy(2, 0) == CUDA_ERROR_INVALID_VALUE);
          EXPECT(copy(2, 3) == CUDA_ERROR_INVALID_VALUE);
          WELL(cuMemsetD8(all[2], 7, kBytes));
          WELL(copy(2, 1));
          WELL(cuStreamSynchronize(stream));
          std::string got(kBytes, ' ');
          WELL(cuMemcpyDtoH(got.data(), all[1], kBytes));
          EXPECT(got == std::string(kBytes, 5));
          WELL(cuMemcpyDtoH(got.data(), all[2], kBytes));
          EXPECT(got == std::string(kBytes / 2, 5) + std::string(kBytes - kBytes / 2, 7));
        }) == 0);
}

TEST_CASE("virtual GPUs: what is copied from pageable memory may be changed at once") {
  CHECK(run_alone({}, [] {
          use_device(0);
          const CUdeviceptr device = allocate();
          std::string text(kBytes, 'a'), got(kBytes, ' ');
          CUstream stream;
          WELL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
          WELL(cuMemcpyHtoDAsync(device, text.data(), kBytes, stream));
          text.assign(kBytes, 'b');
          WELL(cuMemcpyDtoH(got.data(), device, kBytes));
          EXPECT(got == std::string(kBytes, 'a'));
        }) == 0);
}

TEST_CASE("virtual GPUs: memory is mapped at a range, and other memory in its place") {
  CHECK(run_alone({}, [] {
          use_device(0);
          CUdeviceptr range;
          WELL(cuMemAddressReserve(&range, 2 * kLarge, 0, 0, 0));
          for (const CUdevice device : {0, 1}) {
            const CUmemAllocationProp wanted = on_device(device);
            CUmemGenericAllocationHandle handle, again;
            WELL(cuMemCreate(&handle, kLarge, &wanted, 0));
            WELL(cuMemMap(range, kLarge, 0, handle, 0));
            EXPECT(cuMemsetD8(range, 1, 1) == CUDA_ERROR_ILLEGAL_ADDRESS);
            make_accessible(range, kLarge);
            WELL(cuMemsetD8(range + kLarge - 1, 1, 1));
            EXPECT(attribute<int>(range, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == device);
            CUmemAllocationProp told;
            WELL(cuMemRetainAllocationHandle(&again, pointer(range) + 1));
            WELL(cuMemGetAllocationPropertiesFromHandle(&told, again));
            EXPECT(told.location.id == device && again == handle);
            WELL(cuMemRelease(again));
            WELL(cuMemRelease(handle));
            WELL(cuMemUnmap(range, kLarge));
          }
          EXPECT(cuMemsetD8(range, 1, 1) == CUDA_ERROR_INVALID_VALUE);
          WELL(cuMemAddressFree(range, 2 * kLarge));
        }) == 0);
}

TEST_CASE("virtual GPUs: another process opens memory by its handle, once") {
  CHECK(run_alone({}, [] {
          int lines[2], answers[2];
          EXPECT(pipe(lines) == 0 && pipe(answers) == 0);
          CUipcMemHandle handle;
          char answer;
          if (fork() == 0) {
            CUdeviceptr first, second;
            use_device(1);
            EXPECT(read(lines[0], &handle, sizeof handle) == sizeof handle);
            WELL(cuIpcOpenMemHandle(&first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            WELL(cuIpcOpenMemHandle(&second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            WELL(cuMemsetD8(first + kBytes - 1, 9, 1));
            WELL(cuIpcCloseMemHandle(second));
            WELL(cuIpcCloseMemHandle(first));
            answer = first == second && cuIpcCloseMemHandle(first) != CUDA_SUCCESS;
            EXPECT(write(answers[1], &answer, 1) == 1);
            std::_Exit(0);
          }
          use_device(0);
          const CUdeviceptr device = allocate();
          WELL(cuIpcGetMemHandle(&handle, device + 1));
          EXPECT(write(lines[1], &handle, sizeof handle) == sizeof handle);
          EXPECT(read(answers[0], &answer, 1) == 1 && answer == 1);
          unsigned char last;
          WELL(cuMemcpyDtoH(&last, device + kBytes - 1, 1));
          EXPECT(last == 9);
          EXPECT(cuIpcOpenMemHandle(nullptr, handle, 0) == CUDA_ERROR_INVALID_CONTEXT);
        }) == 0);
}

namespace {
std::string uuid_text(CUdevice device) {
  CUuuid uuid;
  WELL(cuDeviceGetUuid_v2(&uuid, device));
  return {uuid.bytes, sizeof uuid.bytes};
}
}  // namespace

TEST_CASE("virtual GPUs: CUDA_VISIBLE_DEVICES renumbers them, and they stay what they are") {
  CHECK(run_alone({}, [] {
          WELL(cuInit(0));
          EXPECT(uuid_text(0) != uuid_text(1));
        }) == 0);
  CHECK(run_alone({{"CUDA_VISIBLE_DEVICES", "1"}}, [] {
          int count, bus;
          WELL(cuInit(0));
          WELL(cuDeviceGetCount(&count));
          WELL(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
          EXPECT(count == 1 && bus == 0x20);
        }) == 0);
  CHECK(run_alone({{"CUDA_VISIBLE_DEVICES", ""}},
                  [] { EXPECT(cuInit(0) == CUDA_ERROR_NO_DEVICE); }) == 0);
}

TEST_CASE("virtual GPUs: instances of a divided GPU have ids of their own and one GPU's") {
  CHECK(run_alone({{"VIRTUAL_GPU_MIG", "2"}, {"VIRTUAL_GPU_COUNT", "1"}}, [] {
          CUuuid whole[2];
          WELL(cuInit(0));
          WELL(cuDeviceGetUuid(&whole[0], 0));
          WELL(cuDeviceGetUuid(&whole[1], 1));
          EXPECT(std::memcmp(&whole[0], &whole[1], sizeof whole[0]) == 0);
          EXPECT(uuid_text(0) != uuid_text(1));
        }) == 0);
}

TEST_CASE("virtual GPUs: errors come where they are asked for") {
  CHECK(run_alone({{"VIRTUAL_GPU_FAIL", "cuMemAlloc_v2#2=2,cuPointerGetAttribute=700"}}, [] {
          use_device(0);
          CUdeviceptr address;
          int ordinal;
          WELL(cuMemAlloc(&address, 1));
          EXPECT(cuMemAlloc(&address, 1) == CUDA_ERROR_OUT_OF_MEMORY);
          WELL(cuMemAlloc(&address, 1));
          EXPECT(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ==
                 CUDA_ERROR_ILLEGAL_ADDRESS);
        }) == 0);
}

TEST_CASE(
    "virtual GPUs: before cuInit, and in a function that the driver calls, nothing is allowed") {
  CHECK(run_alone({}, [] {
          int count;
          EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
          use_device(0);
          static CUresult inside;
          CUstream stream;
          WELL(cuStreamCreate(&stream, 0));
          WELL(cuLaunchHostFunc(
              stream, [](void*) { inside = cuMemFree(0); }, nullptr));
          WELL(cuStreamSynchronize(stream));
          EXPECT(inside == CUDA_ERROR_NOT_PERMITTED);
        }) == 0);
}

TEST_CASE("virtual GPUs: the runtime uses the primary context of the chosen device") {
  CHECK(run_alone({}, [] {
          void* address;
          EXPECT(cudaSetDevice(1) == cudaSuccess);
          EXPECT(cudaMalloc(&address, kBytes) == cudaSuccess);
          const auto at = reinterpret_cast<CUdeviceptr>(address);
          EXPECT(attribute<int>(at, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == 1);
          EXPECT(cudaFree(address) == cudaSuccess);
          EXPECT(cudaFree(address) == cudaErrorInvalidValue);
          EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
        }) == 0);
}
