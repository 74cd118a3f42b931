// What an address is.
#include <cstring>

#include "api.hpp"
#include "memory.hpp"
#include "settings.hpp"

using namespace virtual_gpu;

namespace {

template <typename Value>
CUresult put(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

// What the driver says of an address that it knows nothing of, where it is asked for several at
// once.
CUresult put_unknown(void* to, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put(to, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(to, CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return put(to, std::uint64_t{0});
  }
}

// What only newer drivers know.
bool is_of_mapping(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_MAPPING_SIZE;
}

// Of memory that was not allocated, but mapped or registered, a driver need not have any; or it is
// that of the addresses.
std::uint64_t buffer_id_of(const Allocation& one) {
  if (!settings().tells_less) return one.id;
  if (one.kind == Kind::registered || one.kind == Kind::imported) return 0;
  return one.kind == Kind::mapped ? memory().reservations().place_at(one.begin).begin : one.id;
}

// The whole range of addresses, of which a mapping may be a piece.
Area::Place range_of(const Allocation& one) {
  return one.kind == Kind::mapped ? memory().reservations().place_at(one.begin)
                                  : Area::Place{one.begin, one.bytes};
}

CUresult put_attribute(void* to, CUpointer_attribute attribute, const Allocation& one,
                       Address address) {
  if (settings().tells_less && is_of_mapping(attribute)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(to, one.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(to, one.pinned() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(to, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return one.on_device() ? CUDA_ERROR_INVALID_VALUE : put(to, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(to, 1u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(to, buffer_id_of(one));
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(to, one.physical != nullptr ? one.physical->id : one.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(to, one.kind == Kind::managed ? 1u : 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(to, one.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(to, one.kind == Kind::device ? 1u : 0u);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(to, range_of(one).begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(to, range_of(one).bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put(to, one.begin);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put(to, one.bytes);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      // An int: UCX has one, with something else behind it.
      return put(to, one.physical != nullptr
                         ? static_cast<unsigned>(one.physical->properties.requestedHandleTypes)
                         : 0u);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(to, one.pool);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                                                  CUdeviceptr address) {
  return run("cuPointerGetAttribute", Needs::driver, [&] {
    const Allocation* one = memory().find(address);
    return one != nullptr ? put_attribute(value, attribute, *one, address)
                          : CUDA_ERROR_INVALID_VALUE;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                                   void** values, CUdeviceptr address) {
  return run("cuPointerGetAttributes", Needs::driver, [&] {
    const Allocation* one = memory().find(address);
    for (unsigned i = 0; i < count; ++i) {
      if (settings().tells_less && is_of_mapping(attributes[i])) return CUDA_ERROR_INVALID_VALUE;
      const CUresult result = one != nullptr
                                  ? put_attribute(values[i], attributes[i], *one, address)
                                  : put_unknown(values[i], attributes[i]);
      if (result != CUDA_SUCCESS && put_unknown(values[i], attributes[i]) != CUDA_SUCCESS) {
        return result;
      }
    }
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuPointerSetAttribute(const void*, CUpointer_attribute attribute,
                                                  CUdeviceptr address) {
  return run("cuPointerSetAttribute", Needs::driver, [&] {
    const bool can = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    return can && memory().find(address) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr* begin, size_t* bytes,
                                                 CUdeviceptr address) {
  return run("cuMemGetAddressRange_v2", Needs::driver, [&] {
    const Allocation* one = memory().find(address);
    if (one == nullptr || one->pinned()) return CUDA_ERROR_NOT_FOUND;
    if (begin != nullptr) *begin = one->begin;
    if (bytes != nullptr) *bytes = one->bytes;
    return CUDA_SUCCESS;
  });
}
