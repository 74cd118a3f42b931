// The GPUs: names, identities, attributes.
#include <cstdio>
#include <cstring>
#include <string>

#include "api.hpp"
#include "memory.hpp"

using namespace virtual_gpu;

namespace {

VisibleGpu gpu_of(CUdevice device) { return settings().gpus[static_cast<std::size_t>(device)]; }

int bus_of(CUdevice device) { return bus_of(gpu_of(device)); }

int attribute_of(CUdevice device, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return bus_of(device);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

// `answer` of a device that exists.
template <typename Answer>
CUresult ask(const char* function, CUdevice device, Answer answer) {
  return run(function, Needs::driver, [&]() -> CUresult {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    answer();
    return CUDA_SUCCESS;
  });
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuDriverGetVersion(int* version) {
  return run("cuDriverGetVersion", Needs::nothing, [&] {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGetCount(int* count) {
  return run("cuDeviceGetCount", Needs::driver, [&] {
    *count = static_cast<int>(settings().gpus.size());
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return ask("cuDeviceGet", ordinal, [&] { *device = ordinal; });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return ask("cuDeviceGetName", device, [&] {
    const std::string instance = gpu_of(device).instance < 0 ? "" : " MIG 1g.2gb";
    std::snprintf(name, static_cast<std::size_t>(length), "Virtual GPU%s", instance.c_str());
  });
}

// The later form names the instance of a divided GPU, the first one the whole GPU.
VIRTUAL_GPU_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return ask("cuDeviceGetUuid_v2", device, [&] { *uuid = uuid_of(gpu_of(device)); });
}

#undef cuDeviceGetUuid
VIRTUAL_GPU_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return ask("cuDeviceGetUuid", device,
             [&] { *uuid = uuid_of({.number = gpu_of(device).number, .instance = -1}); });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return ask("cuDeviceGetPCIBusId", device, [&] {
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02X:00.0", bus_of(device));
  });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return ask("cuDeviceTotalMem_v2", device, [&] { *bytes = kMemoryBytes; });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                                 CUdevice device) {
  return ask("cuDeviceGetAttribute", device, [&] { *value = attribute_of(device, attribute); });
}

VIRTUAL_GPU_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return ask("cuDeviceCanAccessPeer", device, [&] { *can = is_device(peer) && peer != device; });
}

VIRTUAL_GPU_EXPORT CUresult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return run("cuMemGetInfo_v2", Needs::context, [&] {
    *free_bytes = *total_bytes = kMemoryBytes;
    return CUDA_SUCCESS;
  });
}
