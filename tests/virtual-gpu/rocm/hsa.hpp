// The common prologue and epilogue of the HSA runtime's functions, and its names of agents.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <mutex>

#include "../driver/settings.hpp"

#define VIRTUAL_HSA_EXPORT extern "C" __attribute__((visibility("default")))

namespace virtual_gpu {

inline constexpr hsa_agent_t kHostAgent{0x1000};

constexpr hsa_agent_t agent_of(int device) {
  return {kHostAgent.handle + 1 + static_cast<unsigned>(device)};
}
constexpr int device_of(hsa_agent_t agent) {
  return static_cast<int>(agent.handle - kHostAgent.handle) - 1;
}
inline bool is_gpu(hsa_agent_t agent) {
  return agent.handle > kHostAgent.handle &&
         agent.handle <= kHostAgent.handle + settings().gpus.size();
}

std::recursive_mutex& runtime_lock();

// How often it was initialised and not shut down again.
unsigned& starts();

// Moves bytes, at addresses of the program or of GPUs.
hsa_status_t copy(void* to, const void* from, std::size_t bytes);

// A function of the runtime: `body` with the lock held, unless it is to fail.
template <typename Body>
hsa_status_t run_anytime(const char* function, Body body) {
  const std::lock_guard guard(runtime_lock());
  auto result = static_cast<hsa_status_t>(injected_failure(function));
  if (result == HSA_STATUS_SUCCESS) result = body();
  trace(function, result);
  return result;
}

// One that needs the runtime to be initialised.
template <typename Body>
hsa_status_t run(const char* function, Body body) {
  return run_anytime(function, [&]() -> hsa_status_t {
    return starts() == 0 ? HSA_STATUS_ERROR_NOT_INITIALIZED : body();
  });
}

}  // namespace virtual_gpu
