// Virtual memory management: physical memory, ranges of addresses, and mappings of the one at the
// other. A handle of the program is the address of a shared_ptr that it holds.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "api.hpp"
#include "memory.hpp"
#include "streams.hpp"
#include "watched.hpp"

using namespace virtual_gpu;

namespace {

// Handles of the program, and how often it must release each.
struct Held {
  std::shared_ptr<Physical> physical;
  unsigned references;
};
std::map<Physical*, Held>& held() {
  static auto& handles = *new std::map<Physical*, Held>();
  return handles;
}

CUmemGenericAllocationHandle hand_out(const std::shared_ptr<Physical>& physical) {
  ++held().try_emplace(physical.get(), Held{physical, 0}).first->second.references;
  return reinterpret_cast<CUmemGenericAllocationHandle>(physical.get());
}

// nullptr: there is no such handle.
std::shared_ptr<Physical> physical_of(CUmemGenericAllocationHandle handle) {
  const auto found = held().find(reinterpret_cast<Physical*>(handle));
  return found != held().end() ? found->second.physical : nullptr;
}

bool is_whole(std::size_t bytes) { return bytes > 0 && bytes % kLargePageBytes == 0; }

CUresult check_location(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return is_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The mapping that begins at `at` and ends within the range.
Allocation* mapping_in(Address at, Address end) {
  Allocation* mapping = memory().find_beginning(at);
  const bool fits =
      mapping != nullptr && mapping->kind == Kind::mapped && at + mapping->bytes <= end;
  return fits ? mapping : nullptr;
}

// `use` of each mapping in the range, which must be covered by them.
template <typename Use>
CUresult each_mapping(Address begin, std::size_t bytes, Use use) {
  const Address end = begin + bytes;
  for (Address at = begin; at < end;) {
    const Allocation* mapping = mapping_in(at, end);
    if (mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
    at += mapping->bytes;
  }
  for (Address at = begin; at < end;) {
    Allocation* mapping = mapping_in(at, end);
    at += mapping->bytes;
    use(*mapping);
  }
  return CUDA_SUCCESS;
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                                          const CUmemAllocationProp* properties,
                                                          CUmemAllocationGranularity_flags) {
  return run("cuMemGetAllocationGranularity", Needs::driver, [&] {
    *granularity = kLargePageBytes;
    return check_location(properties->location);
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                                        const CUmemAllocationProp* properties,
                                        unsigned long long flags) {
  return run_watched(
      "cuMemCreate", Needs::driver, cuMemCreate_params{handle, bytes, properties, flags}, [&] {
        if (!is_whole(bytes) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) {
          return CUDA_ERROR_NOT_PERMITTED;  // no machine has a fabric
        }
        if (const CUresult result = check_location(properties->location); result != CUDA_SUCCESS) {
          return result;
        }
        auto block = Block::make(bytes);
        if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        *handle = hand_out(
            std::make_shared<Physical>(Physical{std::move(block), *properties, memory().new_id()}));
        return CUDA_SUCCESS;
      });
}

VIRTUAL_GPU_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return run("cuMemRelease", Needs::driver, [&] {
    const auto found = held().find(reinterpret_cast<Physical*>(handle));
    if (found == held().end()) return CUDA_ERROR_INVALID_VALUE;
    if (--found->second.references == 0) held().erase(found);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes,
                                                size_t alignment, CUdeviceptr wanted,
                                                unsigned long long) {
  return run("cuMemAddressReserve", Needs::driver, [&] {
    if (!is_whole(bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (wanted != 0 && memory().reservations().take_at(wanted, bytes)) {
      *address = wanted;  // a hint: else it is any other place
      return CUDA_SUCCESS;
    }
    *address = memory().reservations().take(bytes, std::max(alignment, kLargePageBytes));
    return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t) {
  return run("cuMemAddressFree", Needs::driver, [&] {
    return memory().reservations().give_back(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                                     CUmemGenericAllocationHandle handle,
                                     unsigned long long flags) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemMap", Needs::driver,
                     cuMemMap_params{address, bytes, offset, handle, flags}, [&] {
                       const auto physical = physical_of(handle);
                       const bool done = physical != nullptr && is_whole(bytes) &&
                                         memory().map(address, bytes, physical, offset) != nullptr;
                       return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
                     });
}

VIRTUAL_GPU_EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  VIRTUAL_GPU_PATCHABLE;
  return run_watched("cuMemUnmap", Needs::driver, cuMemUnmap_params{address, bytes}, [&] {
    const CUresult before = run_all_streams();
    const CUresult result =
        each_mapping(address, bytes, [](Allocation& mapping) { memory().remove(mapping); });
    return result != CUDA_SUCCESS ? result : before;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                                           const CUmemAccessDesc* access, size_t count) {
  return run("cuMemSetAccess", Needs::driver, [&] {
    return each_mapping(address, bytes, [&](Allocation& mapping) {
      for (std::size_t i = 0; i < count; ++i) {
        mapping.accessible |= access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      }
    });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                        void* address) {
  return run("cuMemRetainAllocationHandle", Needs::driver, [&] {
    const Allocation* mapping = memory().find(reinterpret_cast<Address>(address));
    if (mapping == nullptr || mapping->kind != Kind::mapped) return CUDA_ERROR_INVALID_VALUE;
    *handle = hand_out(mapping->physical);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return run("cuMemGetAllocationPropertiesFromHandle", Needs::driver, [&] {
    const auto physical = physical_of(handle);
    if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = physical->properties;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemExportToShareableHandle(void* shareable,
                                                         CUmemGenericAllocationHandle handle,
                                                         CUmemAllocationHandleType type,
                                                         unsigned long long) {
  return run("cuMemExportToShareableHandle", Needs::driver, [&] {
    const auto physical = physical_of(handle);
    if (physical == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = fcntl(physical->block->file(), F_DUPFD_CLOEXEC, 0);
    *static_cast<int*>(shareable) = file;
    return file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

// Where it lies is not in the file: taken for the device of the one who imports it.
VIRTUAL_GPU_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                           void* shareable,
                                                           CUmemAllocationHandleType type) {
  return run_watched(
      "cuMemImportFromShareableHandle", Needs::context,
      cuMemImportFromShareableHandle_params{handle, shareable, type}, [&] {
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        const int file =
            fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)), F_DUPFD_CLOEXEC, 0);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0) return CUDA_ERROR_INVALID_HANDLE;
        auto block = Block::of_file(file, static_cast<std::size_t>(status.st_size));
        if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.requestedHandleTypes = type;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_context()->device};
        *handle = hand_out(
            std::make_shared<Physical>(Physical{std::move(block), properties, memory().new_id()}));
        return CUDA_SUCCESS;
      });
}
