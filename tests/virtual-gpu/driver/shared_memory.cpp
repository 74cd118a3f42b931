#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace virtual_gpu {

namespace {

std::uint32_t this_host() {
  struct stat space {};
  stat("/proc/self/ns/pid", &space);
  return static_cast<std::uint32_t>(space.st_ino);
}

}  // namespace

bool SharedHandle::is_of_this_host() const { return host == this_host(); }

SharedHandle handle_of(const Allocation& allocation) {
  return {.magic = SharedHandle::kMagic,
          .pid = getpid(),
          .file = allocation.block->file(),
          .host = this_host(),
          .bytes = allocation.bytes,
          .id = allocation.id};
}

Allocation* import_memory(const SharedHandle& handle, CUdevice device, CUcontext context) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (file < 0) return nullptr;
  if (fstat(file, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < handle.bytes) {
    close(file);
    return nullptr;
  }
  const auto reserved = static_cast<std::size_t>(status.st_size);
  auto block = Block::of_file(file, reserved);
  if (block == nullptr) return nullptr;
  const Address begin = memory().imports().take(reserved, kLargePageBytes);
  if (begin == 0) return nullptr;
  return &memory().add({.kind = Kind::imported,
                        .begin = begin,
                        .bytes = handle.bytes,
                        .reserved = reserved,
                        .device = device,
                        .block = std::move(block),
                        .context = context});
}

}  // namespace virtual_gpu
