// The common prologue and epilogue of the Level Zero loader's functions, and its devices: the GPUs,
// and behind them the tiles that each may be divided into.
#pragma once

#include <level_zero/ze_api.h>

#include <mutex>

#include "../driver/settings.hpp"

#define VIRTUAL_ZE_EXPORT extern "C" __attribute__((visibility("default")))

struct _ze_device_handle_t {
  virtual_gpu::VisibleGpu gpu;
  ze_device_handle_t root;  // nullptr: it is no tile
  int number;               // its area of addresses
};

struct _ze_context_handle_t {
  ze_driver_handle_t driver;
};

namespace virtual_gpu {

std::recursive_mutex& loader_lock();
bool& is_initialized();

// nullptr: there is no device with that number.
ze_device_handle_t device_with(int number);

// A function of the loader: `body` with the lock held, unless it is to fail.
template <typename Body>
ze_result_t run_anytime(const char* function, Body body) {
  const std::lock_guard guard(loader_lock());
  auto result = static_cast<ze_result_t>(injected_failure(function));
  if (result == ZE_RESULT_SUCCESS) result = body();
  trace(function, static_cast<int>(result));
  return result;
}

// One that needs the loader to be initialised.
template <typename Body>
ze_result_t run(const char* function, Body body) {
  return run_anytime(function, [&]() -> ze_result_t {
    return is_initialized() ? body() : ZE_RESULT_ERROR_UNINITIALIZED;
  });
}

// One that needs a context besides.
template <typename Body>
ze_result_t run_in(ze_context_handle_t context, const char* function, Body body) {
  return run(function, [&]() -> ze_result_t {
    return context != nullptr ? body() : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  });
}

// The loader's way to hand out several: `count` is how many fit, and then how many there are.
template <typename Handle, typename At>
void hand_out(std::uint32_t there, std::uint32_t* count, Handle* handles, At at) {
  if (*count == 0 || *count > there) *count = there;
  for (std::uint32_t i = 0; handles != nullptr && i < *count; ++i) handles[i] = at(i);
}

}  // namespace virtual_gpu
