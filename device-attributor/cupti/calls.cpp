#include "device-attributor/cupti/calls.hpp"

#include "device-attributor/cupti/places.hpp"

namespace uctrace::cupti {

namespace {

// Set before any call; the driver initialises itself on one thread.
constinit Tell tell = nullptr;

constinit Places physical{};  // by handle of cuMemCreate
constinit Places pools{};

// --- what is told --------------------------------------------------------------------------------

void allocated(uctrace_device_memory_kind kind, int device, std::uint64_t begin,
               std::size_t bytes) {
  struct uctrace_device_event event {};
  event.version = UCTRACE_DEVICE_EVENT_VERSION;
  event.type = UCTRACE_MEMORY_ALLOCATED;
  event.kind = kind;
  event.device = device;
  event.vendor = UCTRACE_VENDOR_CUDA;
  event.begin = begin;
  event.bytes = bytes;
  tell(&event);
}

void freed(std::uint64_t begin, std::size_t bytes = 0) {
  struct uctrace_device_event event {};
  event.version = UCTRACE_DEVICE_EVENT_VERSION;
  event.type = UCTRACE_MEMORY_FREED;
  event.begin = begin;
  event.bytes = bytes;
  tell(&event);
}

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// On the device whose context is current; CUPTI tells which one that is, also inside a callback.
void allocated_here(const CUpti_CallbackData& call, uctrace_device_memory_kind kind,
                    std::uint64_t begin, std::size_t bytes) {
  std::uint32_t device = 0;
  const bool known = cuptiGetDeviceId(call.context, &device) == CUPTI_SUCCESS;
  allocated(known ? kind : UCTRACE_MEMORY_UNKNOWN, known ? static_cast<int>(device) : -1, begin,
            bytes);
}

// From the pool of the stream's device. That is the device of the current context if the stream
// belongs to this context; otherwise it may be another one.
void allocated_in_stream(const CUpti_CallbackData& call, CUstream stream, bool per_thread,
                         std::uint64_t begin, std::size_t bytes) {
  constexpr std::uintptr_t kDefaultStreams = 2;
  std::uint32_t id = 0;
  const bool is_here = reinterpret_cast<std::uintptr_t>(stream) <= kDefaultStreams ||
                       cuptiGetStreamIdEx(call.context, stream, per_thread, &id) == CUPTI_SUCCESS;
  if (is_here) {
    allocated_here(call, UCTRACE_MEMORY_POOL, begin, bytes);
  } else {
    allocated(UCTRACE_MEMORY_UNKNOWN, -1, begin, bytes);
  }
}

void allocated_from(CUmemoryPool pool, std::uint64_t begin, std::size_t bytes) {
  const CUmemLocation location = pools.find(number(pool));
  const bool known = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  allocated(known ? UCTRACE_MEMORY_POOL : UCTRACE_MEMORY_UNKNOWN, known ? location.id : -1, begin,
            bytes);
}

void mapped(const cuMemMap_params& call) {
  const CUmemLocation location = physical.find(call.handle);
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      allocated(UCTRACE_MEMORY_MAPPED, location.id, call.ptr, call.size);
      break;
    case CU_MEM_LOCATION_TYPE_INVALID:  // from another process, or already dropped here
      allocated(UCTRACE_MEMORY_UNKNOWN, -1, call.ptr, call.size);
      break;
    default:
      allocated(UCTRACE_MEMORY_MAPPED_HOST, -1, call.ptr, call.size);
  }
}

// --- the calls -----------------------------------------------------------------------------------

// All calls to subscribe to. Variables of modules, memory of other processes (cuIpcOpenMemHandle)
// and nodes of graphs are left out: uctrace asks the driver when these are used.
constexpr CUpti_CallbackId kWatched[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,
    CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost,
    CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemPoolCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemPoolDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGetDefaultMemPool,
    CUPTI_DRIVER_TRACE_CBID_cuMemCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle,
    CUPTI_DRIVER_TRACE_CBID_cuMemMap,
    CUPTI_DRIVER_TRACE_CBID_cuMemUnmap,
};

template <typename Params>
const Params& params_of(const CUpti_CallbackData& call) {
  return *static_cast<const Params*>(call.functionParams);
}

// Frees are reported before the call: afterwards another thread may already have the address.
void on_enter(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
      freed(params_of<cuMemFree_v2_params>(call).dptr);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost:
      freed(number(params_of<cuMemFreeHost_params>(call).p));
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister:
      freed(number(params_of<cuMemHostUnregister_params>(call).p));
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz:
      freed(params_of<cuMemFreeAsync_params>(call).dptr);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemUnmap:
      freed(params_of<cuMemUnmap_params>(call).ptr, params_of<cuMemUnmap_params>(call).size);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemPoolDestroy:
      pools.forget(number(params_of<cuMemPoolDestroy_params>(call).pool));
      break;
    default:
      break;
  }
}

void on_pools(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz: {
      const auto& p = params_of<cuMemAllocAsync_params>(call);
      allocated_in_stream(call, p.hStream, id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
                          *p.dptr, p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz: {
      const auto& p = params_of<cuMemAllocFromPoolAsync_params>(call);
      allocated_from(p.pool, *p.dptr, p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemPoolCreate: {
      const auto& p = params_of<cuMemPoolCreate_params>(call);
      // For other types, such as managed, the driver knows more than this call tells.
      if (p.poolProps->allocType == CU_MEM_ALLOCATION_TYPE_PINNED) {
        pools.remember(number(*p.pool), p.poolProps->location);
      } else {
        pools.forget(number(*p.pool));
      }
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuDeviceGetDefaultMemPool: {
      const auto& p = params_of<cuDeviceGetDefaultMemPool_params>(call);
      pools.remember(number(*p.pool_out), {CU_MEM_LOCATION_TYPE_DEVICE, p.dev});
      break;
    }
    default:
      break;
  }
}

void on_mappings(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemCreate: {
      const auto& p = params_of<cuMemCreate_params>(call);
      physical.remember(*p.handle, p.prop->location);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle:
      physical.forget(*params_of<cuMemImportFromShareableHandle_params>(call).handle);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemMap:
      mapped(params_of<cuMemMap_params>(call));
      break;
    default:
      break;
  }
}

// The call has succeeded.
void on_success(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2: {
      const auto& p = params_of<cuMemAlloc_v2_params>(call);
      allocated_here(call, UCTRACE_MEMORY_DEVICE, *p.dptr, p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2: {
      const auto& p = params_of<cuMemAllocPitch_v2_params>(call);
      allocated_here(call, UCTRACE_MEMORY_DEVICE, *p.dptr, *p.pPitch * p.Height);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged: {
      const auto& p = params_of<cuMemAllocManaged_params>(call);
      allocated_here(call, UCTRACE_MEMORY_MANAGED, *p.dptr, p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc: {
      const auto& p = params_of<cuMemHostAlloc_params>(call);
      allocated(UCTRACE_MEMORY_PINNED, -1, number(*p.pp), p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2: {
      const auto& p = params_of<cuMemAllocHost_v2_params>(call);
      allocated(UCTRACE_MEMORY_PINNED, -1, number(*p.pp), p.bytesize);
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2: {
      const auto& p = params_of<cuMemHostRegister_v2_params>(call);
      allocated(UCTRACE_MEMORY_PINNED, -1, number(p.p), p.bytesize);
      break;
    }
    default:
      on_pools(id, call);
      on_mappings(id, call);
  }
}

}  // namespace

void tell_to(Tell wanted) { tell = wanted; }

WatchedCalls watched_calls() { return {kWatched, sizeof kWatched / sizeof *kWatched}; }

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) {
    on_enter(id, call);
  } else if (*static_cast<const CUresult*>(call.functionReturnValue) == CUDA_SUCCESS) {
    on_success(id, call);
  }
}

}  // namespace uctrace::cupti
