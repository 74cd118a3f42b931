// cuInit and contexts.
#include <map>
#include <set>

#include "api.hpp"
#include "streams.hpp"
#include "watched.hpp"

namespace virtual_gpu {

namespace {

bool initialized = false;
thread_local bool in_callback = false;

// The context stack of a thread.
constexpr int kDeepest = 32;
thread_local CUcontext stack[kDeepest];
thread_local int depth = 0;

struct Contexts {
  std::map<CUdevice, CUctx_st> primary;
  std::set<CUcontext> own;  // that the program made
  unsigned long long last_id = 0;

  CUcontext primary_of(CUdevice device) {
    const auto [at, added] = primary.try_emplace(device, CUctx_st{device, true, 0, 0, last_id + 1});
    last_id += added;
    return &at->second;
  }
  bool knows(CUcontext context) const {
    return own.contains(context) || (context != nullptr && primary.contains(context->device) &&
                                     &primary.at(context->device) == context);
  }
};

Contexts& contexts() {
  static Contexts& all = *new Contexts();
  return all;
}

CUresult push(CUcontext context) {
  if (!contexts().knows(context) || depth == kDeepest) return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

}  // namespace

bool driver_is_initialized() { return initialized; }

bool is_device(CUdevice device) {
  return device >= 0 && device < static_cast<int>(settings().gpus.size());
}

CUcontext current_context() { return depth > 0 ? stack[depth - 1] : nullptr; }

CallbackScope::CallbackScope() { in_callback = true; }
CallbackScope::~CallbackScope() { in_callback = false; }
bool CallbackScope::active() { return in_callback; }

std::recursive_mutex& driver_lock() {
  static auto& lock = *new std::recursive_mutex();
  return lock;
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

VIRTUAL_GPU_EXPORT CUresult cuInit(unsigned flags) {
  const CUresult result = run("cuInit", Needs::nothing, [&] {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (settings().gpus.empty()) return CUDA_ERROR_NO_DEVICE;
    initialized = true;
    return CUDA_SUCCESS;
  });
  if (result == CUDA_SUCCESS) load_injection();
  return result;
}

VIRTUAL_GPU_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                                       int* active) {
  return run("cuDevicePrimaryCtxGetState", Needs::driver, [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const CUcontext context = contexts().primary_of(device);
    *flags = context->flags;
    *active = context->references > 0;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return run("cuDevicePrimaryCtxRetain", Needs::driver, [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *context = contexts().primary_of(device);
    ++(*context)->references;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return run("cuDevicePrimaryCtxRelease", Needs::driver, [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const CUcontext context = contexts().primary_of(device);
    if (context->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --context->references;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return run("cuCtxCreate_v2", Needs::driver, [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *context = new CUctx_st{device, false, flags, 0, ++contexts().last_id};
    contexts().own.insert(*context);
    return push(*context);
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxDestroy(CUcontext context) {
  return run("cuCtxDestroy_v2", Needs::driver, [&] {
    if (contexts().own.erase(context) == 0) return CUDA_ERROR_INVALID_CONTEXT;
    depth -= current_context() == context;
    delete context;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy(context); }

VIRTUAL_GPU_EXPORT CUresult cuCtxPushCurrent(CUcontext context) {
  return run("cuCtxPushCurrent_v2", Needs::driver, [&] { return push(context); });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxPopCurrent(CUcontext* context) {
  return run("cuCtxPopCurrent_v2", Needs::context, [&] {
    --depth;
    if (context != nullptr) *context = stack[depth];
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return run("cuCtxSetCurrent", Needs::driver, [&] {
    if (context != nullptr && !contexts().knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
    depth -= depth > 0;
    return context != nullptr ? push(context) : CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  return run("cuCtxGetCurrent", Needs::driver, [&] {
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  return run("cuCtxGetDevice", Needs::context, [&] {
    *device = current_context()->device;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return run("cuCtxGetId", Needs::driver, [&] {
    const CUcontext asked = context != nullptr ? context : current_context();
    if (!contexts().knows(asked)) return CUDA_ERROR_INVALID_CONTEXT;
    *id = asked->id;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return run("cuCtxGetApiVersion", Needs::driver, [&] {
    if (context != nullptr && !contexts().knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxSetFlags(unsigned flags) {
  return run("cuCtxSetFlags", Needs::context, [&] {
    current_context()->flags = flags;
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxSynchronize() {
  return run("cuCtxSynchronize", Needs::context, [] { return run_all_streams(); });
}

VIRTUAL_GPU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
  return run("cuCtxEnablePeerAccess", Needs::context,
             [&] { return contexts().knows(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; });
}
