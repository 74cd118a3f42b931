// Memory of another process of the same host: a handle says in which of its files it lies.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "api.hpp"
#include "memory.hpp"
#include "streams.hpp"

using namespace virtual_gpu;

namespace {

struct Handle {
  static constexpr std::uint64_t kMagic = 0x7570672d63706956;
  std::uint64_t magic;
  std::uint64_t host;  // a PID namespace: elsewhere the number is another process's
  std::int64_t pid;
  std::int64_t file;
  std::uint64_t bytes, reserved;
  std::uint64_t id;  // in that process
};
static_assert(sizeof(Handle) <= CU_IPC_HANDLE_SIZE);

std::uint64_t this_host() {
  struct stat space {};
  stat("/proc/self/ns/pid", &space);
  return space.st_ino;
}

Handle read_handle(const CUipcMemHandle& shareable) {
  Handle handle;
  std::memcpy(&handle, &shareable, sizeof handle);
  return handle;
}

// What is open is opened once, as the driver does: by process and id.
struct Open {
  Address begin;
  unsigned references;
};
using Key = std::pair<std::int64_t, std::uint64_t>;
std::map<Key, Open>& open_handles() {
  static auto& open = *new std::map<Key, Open>();
  return open;
}

CUresult import_memory(const Handle& handle, Address& begin) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(handle.pid),
                static_cast<long long>(handle.file));
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return CUDA_ERROR_MAP_FAILED;
  auto block = Block::of_file(file, handle.reserved);
  if (block == nullptr) return CUDA_ERROR_MAP_FAILED;
  begin = memory().imports().take(handle.reserved, kLargePageBytes);
  if (begin == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUcontext context = current_context();
  memory().add({.kind = Kind::imported,
                .begin = begin,
                .bytes = handle.bytes,
                .reserved = handle.reserved,
                .device = context->device,
                .block = std::move(block),
                .context = context});
  return CUDA_SUCCESS;
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* shareable, CUdeviceptr address) {
  return run("cuIpcGetMemHandle", Needs::driver, [&] {
    const Allocation* one = memory().find(address);
    if (one == nullptr || one->kind != Kind::device) return CUDA_ERROR_INVALID_VALUE;
    const Handle handle{.magic = Handle::kMagic,
                        .host = this_host(),
                        .pid = getpid(),
                        .file = one->block->file(),
                        .bytes = one->bytes,
                        .reserved = one->reserved,
                        .id = one->id};
    std::memset(shareable, 0, sizeof *shareable);
    std::memcpy(shareable, &handle, sizeof handle);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle shareable,
                                               unsigned) {
  return run("cuIpcOpenMemHandle_v2", Needs::context, [&] {
    const Handle handle = read_handle(shareable);
    if (handle.magic != Handle::kMagic) return CUDA_ERROR_INVALID_HANDLE;
    if (handle.host != this_host()) return CUDA_ERROR_MAP_FAILED;
    if (handle.pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    const Key key{handle.pid, handle.id};
    const auto known = open_handles().find(key);
    if (known != open_handles().end()) {
      ++known->second.references;
      *address = known->second.begin;
      return CUDA_SUCCESS;
    }
    const CUresult result = import_memory(handle, *address);
    if (result == CUDA_SUCCESS) open_handles()[key] = {*address, 1};
    return result;
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
      memory().remove(*memory().find_beginning(address));
      memory().imports().give_back(address);
      return result;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}
