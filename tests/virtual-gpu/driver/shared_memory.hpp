// Memory of another process of the same host: a handle says in which of its files it lies.
#pragma once

#include <cstdint>

#include "memory.hpp"

namespace virtual_gpu {

struct SharedHandle {
  static constexpr std::uint32_t kMagic = 0x67637056;
  std::uint32_t magic;
  std::int32_t pid;
  std::int32_t file;
  std::uint32_t host;  // a PID namespace: elsewhere the number is another process's
  std::uint64_t bytes;
  std::uint64_t id;  // in that process

  bool is_whole() const { return magic == kMagic; }
  bool is_of_this_host() const;
};
static_assert(sizeof(SharedHandle) == 32, "as large as the smallest of the vendors' handles");

SharedHandle handle_of(const Allocation& allocation);

// Here it is memory of `device`. nullptr: its process or its memory is gone, or there is no place.
Allocation* import_memory(const SharedHandle& handle, CUdevice device, CUcontext context = nullptr);

}  // namespace virtual_gpu
