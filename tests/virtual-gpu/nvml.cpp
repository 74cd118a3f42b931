// libnvidia-ml.so.1 of the virtual GPUs. It counts all GPUs of the machine, whatever
// CUDA_VISIBLE_DEVICES says.
#include <nvml.h>

#include <cstdint>
#include <cstdio>

#include "driver/settings.hpp"

#define VIRTUAL_GPU_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// A handle is the number of a GPU plus one.
unsigned number_of(nvmlDevice_t device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) - 1);
}

unsigned gpus() { return static_cast<unsigned>(virtual_gpu::settings().machine_gpus); }

bool has_link(unsigned link) { return static_cast<int>(link) < virtual_gpu::settings().nvlinks; }

void put_bus(unsigned number, nvmlPciInfo_t* info) {
  *info = {};
  info->bus = 0x10 * (number + 1) % 0x100;
  std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "0000:%02X:00.0", info->bus);
  std::snprintf(info->busId, sizeof info->busId, "00000000:%02X:00.0", info->bus);
}

void put_field(nvmlFieldValue_t& value) {
  const bool known = value.fieldId == NVML_FI_DEV_NVLINK_LINK_COUNT;
  value.nvmlReturn = known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  value.value.uiVal = static_cast<unsigned>(virtual_gpu::settings().nvlinks);
}

}  // namespace

VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
#undef nvmlInit
VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlInit() { return nvmlInit_v2(); }
VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

VIRTUAL_GPU_EXPORT const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_SUCCESS ? "Success" : "Not Supported";
}

VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  *count = gpus();
  return NVML_SUCCESS;
}

VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  if (index >= gpus()) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(index) + 1);
  return NVML_SUCCESS;
}

VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  put_bus(number_of(device), info);
  return NVML_SUCCESS;
}

VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count,
                                                         nvmlFieldValue_t* values) {
  for (int i = 0; i < count; ++i) put_field(values[i]);
  return NVML_SUCCESS;
}

// The other end of each link is the next GPU.
VIRTUAL_GPU_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link,
                                                                 nvmlPciInfo_t* info) {
  if (!has_link(link)) return NVML_ERROR_INVALID_ARGUMENT;
  put_bus((number_of(device) + 1) % gpus(), info);
  return NVML_SUCCESS;
}
