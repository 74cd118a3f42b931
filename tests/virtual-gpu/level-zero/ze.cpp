// Level Zero's face of the virtual GPUs: its loader with one driver, devices and contexts.
#include "ze.hpp"

#include <cstring>
#include <vector>

#include "../driver/face.hpp"
#include "../driver/memory.hpp"

struct _ze_driver_handle_t {};

namespace virtual_gpu {

const Face kFace{.visible_variable = "ZE_AFFINITY_MASK",
                 .first_address = 0x240000000000,
                 .slot = 8,
                 .kind = "level_zero"};

std::recursive_mutex& loader_lock() {
  static auto& lock = *new std::recursive_mutex();
  return lock;
}

bool& is_initialized() {
  static bool initialized = false;
  return initialized;
}

namespace {

// The settings have the tiles in place of the GPUs that are divided.
struct Devices {
  std::vector<_ze_device_handle_t> all;  // the GPUs, then the tiles of each
  int gpus = 0;

  Devices() {
    int last = -1;
    for (const VisibleGpu& gpu : settings().gpus) {
      if (gpu.number != last) all.push_back({{gpu.number, -1}, nullptr, 0});
      last = gpu.number;
    }
    gpus = static_cast<int>(all.size());
    all.reserve(all.size() + settings().gpus.size());
    for (int root = 0; root < gpus; ++root) {
      for (const VisibleGpu& gpu : settings().gpus) {
        if (gpu.instance >= 0 && gpu.number == all[static_cast<std::size_t>(root)].gpu.number) {
          all.push_back({gpu, &all[static_cast<std::size_t>(root)], 0});
        }
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].number = static_cast<int>(i);
  }

  std::vector<ze_device_handle_t> tiles_of(ze_device_handle_t root) {
    std::vector<ze_device_handle_t> tiles;
    for (_ze_device_handle_t& one : all) {
      if (one.root == root) tiles.push_back(&one);
    }
    return tiles;
  }
};

Devices& devices() {
  static auto& only = *new Devices();
  return only;
}

_ze_driver_handle_t only_driver;

}  // namespace

ze_device_handle_t device_with(int number) {
  auto& all = devices().all;
  return number >= 0 && number < static_cast<int>(all.size())
             ? &all[static_cast<std::size_t>(number)]
             : nullptr;
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

VIRTUAL_ZE_EXPORT ze_result_t zeInit(ze_init_flags_t) {
  return run_anytime("zeInit", [] {
    if (settings().gpus.empty()) return ZE_RESULT_ERROR_UNINITIALIZED;
    is_initialized() = true;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDriverGet(uint32_t* pCount, ze_driver_handle_t* phDrivers) {
  return run("zeDriverGet", [&] {
    hand_out(1, pCount, phDrivers, [](std::uint32_t) { return &only_driver; });
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDriverGetApiVersion(ze_driver_handle_t, ze_api_version_t* version) {
  return run("zeDriverGetApiVersion", [&] {
    *version = ZE_API_VERSION_1_3;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDeviceGet(ze_driver_handle_t, uint32_t* pCount,
                                          ze_device_handle_t* phDevices) {
  return run("zeDeviceGet", [&] {
    hand_out(static_cast<std::uint32_t>(devices().gpus), pCount, phDevices,
             [](std::uint32_t i) { return device_with(static_cast<int>(i)); });
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t* pCount,
                                                    ze_device_handle_t* phSubdevices) {
  return run("zeDeviceGetSubDevices", [&] {
    const auto tiles = devices().tiles_of(hDevice);
    hand_out(static_cast<std::uint32_t>(tiles.size()), pCount, phSubdevices,
             [&](std::uint32_t i) { return tiles[i]; });
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                                    ze_device_handle_t* phRootDevice) {
  return run("zeDeviceGetRootDevice", [&] {
    *phRootDevice = hDevice->root;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice,
                                                    ze_device_properties_t* pDeviceProperties) {
  return run("zeDeviceGetProperties", [&] {
    if (pDeviceProperties->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const CUuuid uuid = uuid_of(hDevice->gpu);
    pDeviceProperties->type = ZE_DEVICE_TYPE_GPU;
    std::memcpy(pDeviceProperties->uuid.id, uuid.bytes, sizeof pDeviceProperties->uuid.id);
    std::strcpy(pDeviceProperties->name, "Virtual Data Center GPU Max");
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                          ze_pci_ext_properties_t* pPciProperties) {
  return run("zeDevicePciGetPropertiesExt", [&] {
    if (pPciProperties->stype != ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    pPciProperties->address = {0, static_cast<std::uint32_t>(bus_of(hDevice->gpu)), 0, 0};
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeDeviceGetMemoryProperties(
    ze_device_handle_t, uint32_t* pCount, ze_device_memory_properties_t* pMemProperties) {
  return run("zeDeviceGetMemoryProperties", [&] {
    *pCount = 1;
    if (pMemProperties == nullptr) return ZE_RESULT_SUCCESS;
    if (pMemProperties->stype != ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    pMemProperties->totalSize = kMemoryBytes;
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeContextCreate(ze_driver_handle_t hDriver,
                                              const ze_context_desc_t* desc,
                                              ze_context_handle_t* phContext) {
  return run("zeContextCreate", [&] {
    if (desc->stype != ZE_STRUCTURE_TYPE_CONTEXT_DESC) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *phContext = new _ze_context_handle_t{hDriver};
    return ZE_RESULT_SUCCESS;
  });
}

VIRTUAL_ZE_EXPORT ze_result_t zeContextDestroy(ze_context_handle_t hContext) {
  return run_in(hContext, "zeContextDestroy", [&] {
    delete hContext;
    return ZE_RESULT_SUCCESS;
  });
}
