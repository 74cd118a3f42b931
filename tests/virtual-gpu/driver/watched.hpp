// Calls of the driver that a client of CUPTI can watch: it is called before and after each of them.
// The client is the stand-in of CUPTI (../cupti.cpp).
#pragma once

#include <cupti.h>

#include "api.hpp"

namespace virtual_gpu {

// `result` is nullptr before the call.
using Watcher = void (*)(const char* function, const void* params, CUcontext context,
                         const CUresult* result, std::uint64_t* correlation);

// nullptr: there is no client.
Watcher watcher();

// Loads what CUDA_INJECTION64_PATH names. Once, as the driver is initialised.
void load_injection();

template <typename Params, typename Body>
CUresult run_watched(const char* function, Needs needs, const Params& params, Body body) {
  std::uint64_t correlation = 0;
  const auto tell = [&](const CUresult* result) {
    const Watcher watch = CallbackScope::active() ? nullptr : watcher();
    if (watch == nullptr) return;
    const CallbackScope scope;  // a client may not call the driver
    watch(function, &params, current_context(), result, &correlation);
  };
  tell(nullptr);
  const CUresult result = run(function, needs, body);
  tell(&result);
  return result;
}

}  // namespace virtual_gpu

// For the stand-in of CUPTI alone; no driver of CUDA has them.
VIRTUAL_GPU_EXPORT void virtualGpuWatch(virtual_gpu::Watcher watcher);
VIRTUAL_GPU_EXPORT CUcontext
virtualGpuContextOf(CUstream stream);  // of the default one: the current
