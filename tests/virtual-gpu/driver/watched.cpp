#include "watched.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "streams.hpp"

namespace virtual_gpu {

namespace {

constinit std::atomic<Watcher> only{nullptr};

}  // namespace

Watcher watcher() { return only.load(); }

// As the driver does, which continues silently if the library does not exist or is not a valid one.
void load_injection() {
  static std::once_flag loaded;
  std::call_once(loaded, [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* const library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* const begin = library != nullptr ? dlsym(library, "InitializeInjection") : nullptr;
    if (begin != nullptr) reinterpret_cast<int (*)()>(begin)();
  });
}

}  // namespace virtual_gpu

VIRTUAL_GPU_EXPORT void virtualGpuWatch(virtual_gpu::Watcher watcher) {
  virtual_gpu::only.store(watcher);
}

VIRTUAL_GPU_EXPORT CUcontext virtualGpuContextOf(CUstream stream) {
  return virtual_gpu::context_of(stream);
}
