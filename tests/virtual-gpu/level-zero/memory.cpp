// Memory as Level Zero has it: of devices, shared, of the host, of another process, and physical
// memory that is mapped. Any context knows what was allocated in another one.
#include "../driver/memory.hpp"

#include <unistd.h>

#include <cstring>

#include "../driver/shared_memory.hpp"
#include "ze.hpp"

// A handle of the program.
struct _ze_physical_mem_handle_t {
  std::shared_ptr<virtual_gpu::Physical> physical;
};
struct _ze_command_list_handle_t {};

using namespace virtual_gpu;

namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

ze_result_t told(const Allocation* allocation, void** pointer) {
  if (allocation == nullptr) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  *pointer = reinterpret_cast<void*>(allocation->begin);
  return ZE_RESULT_SUCCESS;
}

// Frees what begins there, if it is of one of the kinds.
ze_result_t release(const void* pointer, bool (*fits)(const Allocation&)) {
  const Allocation* one = memory().find_beginning(address_of(pointer));
  if (one == nullptr || !fits(*one)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  memory().release(*one);
  return ZE_RESULT_SUCCESS;
}

ze_memory_type_t type_of(const Allocation& one) {
  switch (one.kind) {
    case Kind::managed:
      return ZE_MEMORY_TYPE_SHARED;
    case Kind::host:
      return ZE_MEMORY_TYPE_HOST;
    case Kind::registered:
      return ZE_MEMORY_TYPE_HOST_IMPORTED;
    default:
      return ZE_MEMORY_TYPE_DEVICE;
  }
}

// Memory of the program that the descriptor of an extension names; nullptr: there is none.
const ze_external_memmap_sysmem_ext_desc_t* imported_by(const ze_host_mem_alloc_desc_t* wanted) {
  const auto* more = wanted == nullptr
                         ? nullptr
                         : static_cast<const ze_external_memmap_sysmem_ext_desc_t*>(wanted->pNext);
  return more != nullptr && more->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC
             ? more
             : nullptr;
}

}  // namespace

VIRTUAL_ZE_EXPORT ze_result_t zeMemAllocDevice(ze_context_handle_t hContext,
                                               const ze_device_mem_alloc_desc_t*, size_t size,
                                               size_t, ze_device_handle_t hDevice, void** pptr) {
  return run_in(hContext, "zeMemAllocDevice", [&] {
    if (size == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return told(memory().allocate_on(hDevice->number, {.kind = Kind::device}, size), pptr);
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemAllocShared(ze_context_handle_t hContext,
                                               const ze_device_mem_alloc_desc_t*,
                                               const ze_host_mem_alloc_desc_t*, size_t size, size_t,
                                               ze_device_handle_t hDevice, void** pptr) {
  return run_in(hContext, "zeMemAllocShared", [&] {
    if (size == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const int device = hDevice != nullptr ? hDevice->number : -1;
    return told(memory().allocate_readable({.kind = Kind::managed, .device = device}, size), pptr);
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemAllocHost(ze_context_handle_t hContext,
                                             const ze_host_mem_alloc_desc_t* host_desc, size_t size,
                                             size_t, void** pptr) {
  return run_in(hContext, "zeMemAllocHost", [&] {
    if (size == 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (const auto* imported = imported_by(host_desc)) {
      return told(&memory().add({.kind = Kind::registered,
                                 .begin = address_of(imported->pSystemMemory),
                                 .bytes = imported->size,
                                 .device = -1}),
                  pptr);
    }
    return told(memory().allocate_readable({.kind = Kind::host, .device = -1}, size), pptr);
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemFree(ze_context_handle_t hContext, void* ptr) {
  return run_in(hContext, "zeMemFree", [&] {
    return release(ptr, [](const Allocation& one) {
      return one.kind == Kind::device || one.kind == Kind::managed || one.pinned();
    });
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void* ptr,
    ze_memory_allocation_properties_t* pMemAllocProperties, ze_device_handle_t* phDevice) {
  return run_in(hContext, "zeMemGetAllocProperties", [&] {
    if (pMemAllocProperties->stype != ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const Allocation* one = memory().find(address_of(ptr));
    pMemAllocProperties->type = one != nullptr ? type_of(*one) : ZE_MEMORY_TYPE_UNKNOWN;
    if (one == nullptr) return ZE_RESULT_SUCCESS;
    const bool has_id = !settings().tells_less || one->kind != Kind::mapped;
    pMemAllocProperties->id = has_id ? one->id : 0;
    pMemAllocProperties->pageSize = kPageBytes;
    if (phDevice != nullptr) *phDevice = device_with(one->device);
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void* ptr,
                                                   void** pBase, size_t* pSize) {
  return run_in(hContext, "zeMemGetAddressRange", [&] {
    const Allocation* one = memory().find(address_of(ptr));
    if (one == nullptr) return ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;
    if (pBase != nullptr) *pBase = reinterpret_cast<void*>(one->begin);
    if (pSize != nullptr) *pSize = one->bytes;
    return ZE_RESULT_SUCCESS;
  });
}

// --- copies: a list that is executed at once, by what it is given
// -----------------------------------

VIRTUAL_ZE_EXPORT ze_result_t zeCommandListCreateImmediate(
    ze_context_handle_t hContext, ze_device_handle_t, const ze_command_queue_desc_t*,
    ze_command_list_handle_t* phCommandList) {
  return run_in(hContext, "zeCommandListCreateImmediate", [&] {
    *phCommandList = new _ze_command_list_handle_t{};
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t, void* dstptr,
                                                            const void* srcptr, size_t size,
                                                            ze_event_handle_t, uint32_t,
                                                            ze_event_handle_t*) {
  return run("zeCommandListAppendMemoryCopy", [&] {
    return memory().copy(address_of(dstptr), address_of(srcptr), size) == CUDA_SUCCESS
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList) {
  return run("zeCommandListDestroy", [&] {
    delete hCommandList;
    return ZE_RESULT_SUCCESS;
  });
}

// --- memory of another process
// ---------------------------------------------------------------------

VIRTUAL_ZE_EXPORT ze_result_t zeMemGetIpcHandle(ze_context_handle_t hContext, const void* ptr,
                                                ze_ipc_mem_handle_t* pIpcHandle) {
  return run_in(hContext, "zeMemGetIpcHandle", [&] {
    const Allocation* one = memory().find(address_of(ptr));
    if (one == nullptr || one->kind != Kind::device) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const SharedHandle shared = handle_of(*one);
    static_assert(sizeof shared <= sizeof pIpcHandle->data);
    std::memset(pIpcHandle, 0, sizeof *pIpcHandle);
    std::memcpy(pIpcHandle->data, &shared, sizeof shared);
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemOpenIpcHandle(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t,
                                                 void** pptr) {
  return run_in(hContext, "zeMemOpenIpcHandle", [&] {
    SharedHandle shared;
    std::memcpy(&shared, handle.data, sizeof shared);
    if (!shared.is_whole() || !shared.is_of_this_host() || shared.pid == getpid()) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return told(import_memory(shared, hDevice->number), pptr);
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeMemCloseIpcHandle(ze_context_handle_t hContext, const void* ptr) {
  return run_in(hContext, "zeMemCloseIpcHandle", [&] {
    return release(ptr, [](const Allocation& one) { return one.kind == Kind::imported; });
  });
}

// --- virtual memory
// ----------------------------------------------------------------------------------

VIRTUAL_ZE_EXPORT ze_result_t zeVirtualMemReserve(ze_context_handle_t hContext, const void*,
                                                  size_t size, void** pptr) {
  return run_in(hContext, "zeVirtualMemReserve", [&] {
    const Address at = memory().reservations().take(size, kLargePageBytes);
    *pptr = reinterpret_cast<void*>(at);
    return at != 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeVirtualMemFree(ze_context_handle_t hContext, const void* ptr,
                                               size_t) {
  return run_in(hContext, "zeVirtualMemFree", [&] {
    return memory().reservations().give_back(address_of(ptr)) ? ZE_RESULT_SUCCESS
                                                              : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zePhysicalMemCreate(ze_context_handle_t hContext,
                                                  ze_device_handle_t hDevice,
                                                  ze_physical_mem_desc_t* desc,
                                                  ze_physical_mem_handle_t* phPhysicalMemory) {
  return run_in(hContext, "zePhysicalMemCreate", [&] {
    if (desc->stype != ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    auto block = Block::make(desc->size);
    if (block == nullptr) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    Physical physical{std::move(block), {}, memory().new_id()};
    physical.properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, hDevice->number};
    *phPhysicalMemory =
        new _ze_physical_mem_handle_t{std::make_shared<Physical>(std::move(physical))};
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zePhysicalMemDestroy(ze_context_handle_t hContext,
                                                   ze_physical_mem_handle_t hPhysicalMemory) {
  return run_in(hContext, "zePhysicalMemDestroy", [&] {
    delete hPhysicalMemory;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeVirtualMemMap(ze_context_handle_t hContext, const void* ptr,
                                              size_t size, ze_physical_mem_handle_t hPhysicalMemory,
                                              size_t offset, ze_memory_access_attribute_t access) {
  return run_in(hContext, "zeVirtualMemMap", [&] {
    Allocation* mapping = memory().map(address_of(ptr), size, hPhysicalMemory->physical, offset);
    if (mapping == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    mapping->accessible = access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeVirtualMemUnmap(ze_context_handle_t hContext, const void* ptr,
                                                size_t) {
  return run_in(hContext, "zeVirtualMemUnmap", [&] {
    return release(ptr, [](const Allocation& one) { return one.kind == Kind::mapped; });
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext,
                                                             const void* ptr, size_t,
                                                             ze_memory_access_attribute_t* access,
                                                             size_t* outSize) {
  return run_in(hContext, "zeVirtualMemGetAccessAttribute", [&] {
    const Area::Place place = memory().reservations().place_at(address_of(ptr));
    if (address_of(ptr) - place.begin >= place.bytes) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const Allocation* one = memory().find(address_of(ptr));
    *access = one != nullptr && one->accessible ? ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE
                                                : ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
    *outSize = one != nullptr ? one->bytes : place.bytes;
    return ZE_RESULT_SUCCESS;
  });
}
