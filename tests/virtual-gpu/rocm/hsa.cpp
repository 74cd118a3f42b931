// ROCm's face of the virtual GPUs: the HSA runtime, where it starts and what its agents are. There
// is one agent for the host, and one for each GPU.
#include "hsa.hpp"

#include <cstdio>
#include <cstring>

#include "../driver/face.hpp"
#include "../driver/settings.hpp"

namespace virtual_gpu {

const Face kFace{.visible_variable = "ROCR_VISIBLE_DEVICES",
                 .first_address = 0x220000000000,
                 .slot = 4,
                 .kind = "rocm"};

std::recursive_mutex& runtime_lock() {
  static auto& lock = *new std::recursive_mutex();
  return lock;
}

unsigned& starts() {
  static unsigned count = 0;
  return count;
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

namespace {

VisibleGpu gpu_of(hsa_agent_t agent) {
  return settings().gpus[static_cast<std::size_t>(device_of(agent))];
}

template <typename Value>
void put(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
}

// As the runtime does: 16 digits for what has 16 bytes elsewhere.
void put_uuid(VisibleGpu gpu, char* text) {
  const CUuuid uuid = uuid_of(gpu);
  text += std::sprintf(text, "GPU-");
  for (int i = 0; i < 8; ++i) {
    text += std::sprintf(text, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
  }
}

hsa_status_t put_gpu_info(hsa_agent_t agent, int attribute, void* value) {
  char* const text = static_cast<char*>(value);
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_BDFID:
      put(value, static_cast<std::uint32_t>(bus_of(gpu_of(agent))) << 8);
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_DOMAIN:
      put(value, std::uint32_t{0});
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_UUID:
      if (settings().tells_less) {
        std::strcpy(text, "GPU-XX");
      } else {
        put_uuid(gpu_of(agent), text);
      }
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      std::strcpy(text, "Virtual Instinct");
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace

VIRTUAL_HSA_EXPORT hsa_status_t hsa_init() {
  return run_anytime("hsa_init", [] {
    if (settings().gpus.empty()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    ++starts();
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_shut_down() {
  return run("hsa_shut_down", [] {
    --starts();
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_system_get_info(hsa_system_info_t, void* value) {
  return run("hsa_system_get_info", [&] {
    put(value, std::uint16_t{1});
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent,
                                                                            void* data),
                                                   void* data) {
  return run("hsa_iterate_agents", [&] {
    hsa_status_t result = callback(kHostAgent, data);
    const int count = static_cast<int>(settings().gpus.size());
    for (int device = 0; device < count && result == HSA_STATUS_SUCCESS; ++device) {
      result = callback(agent_of(device), data);
    }
    return result;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute,
                                                   void* value) {
  return run("hsa_agent_get_info", [&] {
    const bool host = agent.handle == kHostAgent.handle;
    if (!host && !is_gpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (attribute == HSA_AGENT_INFO_DEVICE) {
      put(value, host ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU);
      return HSA_STATUS_SUCCESS;
    }
    if (attribute == HSA_AGENT_INFO_NAME) {
      std::strcpy(static_cast<char*>(value), host ? "Virtual CPU" : "gfx942");
      return HSA_STATUS_SUCCESS;
    }
    return host ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                : put_gpu_info(agent, static_cast<int>(attribute), value);
  });
}
