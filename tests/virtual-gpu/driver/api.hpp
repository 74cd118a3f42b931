// The common prologue and epilogue of the driver's functions, and the contexts that most of them
// need.
#pragma once

#include <cuda.h>

#include <mutex>

#include "settings.hpp"

// A context; the handles of the program are its address.
struct CUctx_st {
  CUdevice device;
  bool primary;
  unsigned flags;
  unsigned references;  // of a primary one
  unsigned long long id;
};

#define VIRTUAL_GPU_EXPORT extern "C" __attribute__((visibility("default")))

// UCX's memory hooks move the first instructions of a function to another place. They know only
// some, among them those with which a large frame is made.
#define VIRTUAL_GPU_PATCHABLE \
  volatile char frame[256];   \
  static_cast<void>(frame)

namespace virtual_gpu {

// What a function requires before it does anything.
enum class Needs : unsigned char { nothing, driver, context };

bool driver_is_initialized();
bool is_device(CUdevice device);
CUcontext current_context();

// A callback of the program runs on behalf of the driver: it must not call the driver.
class CallbackScope {
 public:
  CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
  ~CallbackScope();
  static bool active();
};

std::recursive_mutex& driver_lock();

// A function of the driver: `body` with the lock held, unless it cannot be called now or is to
// fail.
template <typename Body>
CUresult run(const char* function, Needs needs, Body body) {
  const std::lock_guard guard(driver_lock());
  auto result = static_cast<CUresult>(injected_failure(function));
  if (result != CUDA_SUCCESS) {
  } else if (CallbackScope::active()) {
    result = CUDA_ERROR_NOT_PERMITTED;
  } else if (needs != Needs::nothing && !driver_is_initialized()) {
    result = CUDA_ERROR_NOT_INITIALIZED;
  } else if (needs == Needs::context && current_context() == nullptr) {
    result = CUDA_ERROR_INVALID_CONTEXT;
  } else {
    result = body();
  }
  trace(function, result);
  return result;
}

}  // namespace virtual_gpu
