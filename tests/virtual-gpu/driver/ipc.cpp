// Memory of another process of the same host.
#include <unistd.h>

#include <cstring>
#include <map>

#include "api.hpp"
#include "memory.hpp"
#include "shared_memory.hpp"
#include "streams.hpp"

using namespace virtual_gpu;

namespace {

static_assert(sizeof(SharedHandle) <= CU_IPC_HANDLE_SIZE);

SharedHandle read_handle(const CUipcMemHandle& shareable) {
  SharedHandle handle;
  std::memcpy(&handle, &shareable, sizeof handle);
  return handle;
}

// What is open is opened once, as the driver does: by process and id.
struct Open {
  Address begin;
  unsigned references;
};
using Key = std::pair<std::int32_t, std::uint64_t>;
std::map<Key, Open>& open_handles() {
  static auto& open = *new std::map<Key, Open>();
  return open;
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* shareable, CUdeviceptr address) {
  return run("cuIpcGetMemHandle", Needs::driver, [&] {
    const Allocation* one = memory().find(address);
    if (one == nullptr || one->kind != Kind::device) return CUDA_ERROR_INVALID_VALUE;
    const SharedHandle handle = handle_of(*one);
    std::memset(shareable, 0, sizeof *shareable);
    std::memcpy(shareable, &handle, sizeof handle);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle shareable,
                                               unsigned) {
  return run("cuIpcOpenMemHandle_v2", Needs::context, [&] {
    const SharedHandle handle = read_handle(shareable);
    if (!handle.is_whole()) return CUDA_ERROR_INVALID_HANDLE;
    if (!handle.is_of_this_host()) return CUDA_ERROR_MAP_FAILED;
    if (handle.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    const Key key{handle.pid, handle.id};
    const auto known = open_handles().find(key);
    if (known != open_handles().end()) {
      ++known->second.references;
      *address = known->second.begin;
      return CUDA_SUCCESS;
    }
    const CUcontext context = current_context();
    const Allocation* imported = import_memory(handle, context->device, context);
    if (imported == nullptr) return CUDA_ERROR_MAP_FAILED;
    *address = imported->begin;
    open_handles()[key] = {*address, 1};
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return run("cuIpcCloseMemHandle", Needs::driver, [&] {
    auto& all = open_handles();
    for (auto open = all.begin(); open != all.end(); ++open) {
      if (open->second.begin != address) continue;
      if (--open->second.references > 0) return CUDA_SUCCESS;
      all.erase(open);
      const CUresult result = run_all_streams();
      memory().release(*memory().find_beginning(address));
      return result;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}
