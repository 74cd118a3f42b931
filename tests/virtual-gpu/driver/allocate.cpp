// Memory of devices, managed memory, pinned memory of the host, and pools.
#include <sys/mman.h>

#include <set>

#include "api.hpp"
#include "memory.hpp"
#include "streams.hpp"
#include "watched.hpp"

// Of the stream-ordered allocator.
struct CUmemPoolHandle_st {
  CUdevice device;
};

using namespace virtual_gpu;

namespace {

constexpr std::size_t kPitchBytes = 512;

CUresult told(const Allocation* allocation, Address& address) {
  if (allocation == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  address = allocation->begin;
  return CUDA_SUCCESS;
}

CUresult allocate_on(CUdevice device, const Allocation& like, std::size_t bytes, Address& address) {
  return bytes == 0 ? CUDA_ERROR_INVALID_VALUE
                    : told(memory().allocate_on(device, like, bytes), address);
}

CUresult allocate_readable(Kind kind, std::size_t bytes, Address& address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const CUcontext context = current_context();
  return told(memory().allocate_readable(
                  {.kind = kind, .device = context->device, .context = context}, bytes),
              address);
}

// What is queued is done first.
CUresult free_allocation(Address address, bool (*fits)(const Allocation&)) {
  if (address == 0) return CUDA_SUCCESS;
  Allocation* allocation = memory().find_beginning(address);
  if (allocation == nullptr || !fits(*allocation)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = run_all_streams();
  memory().release(*allocation);
  return result;
}

bool freed_by_free(const Allocation& allocation) {
  return allocation.kind == Kind::device || allocation.kind == Kind::pool ||
         allocation.kind == Kind::managed;
}

CUmemoryPool default_pool(CUdevice device) {
  static auto& pools = *new std::map<CUdevice, CUmemPoolHandle_st>();
  return &pools.try_emplace(device, CUmemPoolHandle_st{device}).first->second;
}

std::set<CUmemoryPool>& own_pools() {
  static auto& pools = *new std::set<CUmemoryPool>();
  return pools;
}

CUresult allocate_from(CUmemoryPool pool, std::size_t bytes, CUdeviceptr* address) {
  return allocate_on(pool->device, {.kind = Kind::pool, .pool = pool}, bytes, *address);
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemAlloc_v2", Needs::context, cuMemAlloc_v2_params{address, bytes}, [&] {
    const CUcontext context = current_context();
    return allocate_on(context->device, {.kind = Kind::device, .context = context}, bytes,
                       *address);
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAllocPitch(CUdeviceptr* address, size_t* pitch, size_t width,
                                            size_t height, unsigned element) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemAllocPitch_v2", Needs::context,
                     cuMemAllocPitch_v2_params{address, pitch, width, height, element}, [&] {
                       const CUcontext context = current_context();
                       *pitch = rounded(width, kPitchBytes);
                       return allocate_on(context->device,
                                          {.kind = Kind::device, .context = context},
                                          *pitch * height, *address);
                     });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemAllocManaged", Needs::context,
                     cuMemAllocManaged_params{address, bytes, flags},
                     [&] { return allocate_readable(Kind::managed, bytes, *address); });
}

VIRTUAL_GPU_EXPORT CUresult cuMemFree(CUdeviceptr address) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemFree_v2", Needs::driver, cuMemFree_v2_params{address},
                     [&] { return free_allocation(address, freed_by_free); });
}

VIRTUAL_GPU_EXPORT CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return run_watched(
      "cuMemHostAlloc", Needs::context, cuMemHostAlloc_params{address, bytes, flags},
      [&] { return allocate_readable(Kind::host, bytes, *reinterpret_cast<Address*>(address)); });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAllocHost(void** address, size_t bytes) {
  return run_watched(
      "cuMemAllocHost_v2", Needs::context, cuMemAllocHost_v2_params{address, bytes},
      [&] { return allocate_readable(Kind::host, bytes, *reinterpret_cast<Address*>(address)); });
}

VIRTUAL_GPU_EXPORT CUresult cuMemFreeHost(void* address) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemFreeHost", Needs::driver, cuMemFreeHost_params{address}, [&] {
    return free_allocation(reinterpret_cast<Address>(address),
                           [](const Allocation& one) { return one.kind == Kind::host; });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return run_watched("cuMemHostRegister_v2", Needs::context,
                     cuMemHostRegister_v2_params{address, bytes, flags}, [&] {
                       const auto begin = reinterpret_cast<Address>(address);
                       if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
                       if (memory().find(begin) != nullptr)
                         return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
                       const CUcontext context = current_context();
                       memory().add({.kind = Kind::registered,
                                     .begin = begin,
                                     .bytes = bytes,
                                     .device = context->device,
                                     .context = context});
                       return CUDA_SUCCESS;
                     });
}

VIRTUAL_GPU_EXPORT CUresult cuMemHostUnregister(void* address) {
  return run_watched(
      "cuMemHostUnregister", Needs::driver, cuMemHostUnregister_params{address}, [&] {
        const CUresult result =
            free_allocation(reinterpret_cast<Address>(address),
                            [](const Allocation& one) { return one.kind == Kind::registered; });
        return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : result;
      });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return run_watched("cuDeviceGetDefaultMemPool", Needs::driver,
                     cuDeviceGetDefaultMemPool_params{pool, device}, [&] {
                       if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
                       *pool = default_pool(device);
                       return CUDA_SUCCESS;
                     });
}

VIRTUAL_GPU_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return run_watched("cuMemPoolCreate", Needs::driver, cuMemPoolCreate_params{pool, properties},
                     [&] {
                       if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
                         return CUDA_ERROR_NOT_SUPPORTED;
                       if (!is_device(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
                       *pool = new CUmemPoolHandle_st{properties->location.id};
                       own_pools().insert(*pool);
                       return CUDA_SUCCESS;
                     });
}

VIRTUAL_GPU_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return run_watched("cuMemPoolDestroy", Needs::driver, cuMemPoolDestroy_params{pool}, [&] {
    if (own_pools().erase(pool) == 0) return CUDA_ERROR_INVALID_VALUE;
    delete pool;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched(
      "cuMemAllocAsync", Needs::context, cuMemAllocAsync_params{address, bytes, stream},
      [&] { return allocate_from(default_pool(context_of(stream)->device), bytes, address); });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes,
                                                    CUmemoryPool pool, CUstream stream) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched(
      "cuMemAllocFromPoolAsync", Needs::context,
      cuMemAllocFromPoolAsync_params{address, bytes, pool, stream}, [&] {
        const bool known =
            own_pools().contains(pool) ||
            (pool != nullptr && is_device(pool->device) && pool == default_pool(pool->device));
        return known ? allocate_from(pool, bytes, address) : CUDA_ERROR_INVALID_VALUE;
      });
}

VIRTUAL_GPU_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemFreeAsync", Needs::context, cuMemFreeAsync_params{address, stream}, [&] {
    return free_allocation(address, [](const Allocation& one) { return one.kind == Kind::pool; });
  });
}
