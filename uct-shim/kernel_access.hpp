// Memory and endpoints that GPU kernels may use directly (log::KernelAccess). Calls that grant it
// are also recorded as MemoryCalls.
#pragma once

#include <cstdint>

#include "uct-shim/memory_calls.hpp"

namespace uctrace::uct {

struct KernelAccess {
  std::uint64_t handle = 0, endpoint = 0, local = 0, remote = 0, bytes = 0;
};

// For slow paths.
void define_kernel_access(log::MemoryFunction function, const KernelAccess& access);

}  // namespace uctrace::uct
