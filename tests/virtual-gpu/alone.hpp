// Shared by the tests of this folder. Each case runs in a process of its own, because the driver
// reads its settings once.
#pragma once

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

inline constexpr std::size_t kBytes = 100'000;
inline constexpr std::size_t kLarge = std::size_t{2}
                                      << 20;  // the unit of virtual memory management

using Environment = std::vector<std::pair<const char*, const char*>>;

// The exit status of a process that runs `body`, or minus the signal that ended it.
inline int run_alone(const Environment& environment, void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    body();
    std::_Exit(0);
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                               \
    }                                                                              \
  } while (false)
#define WELL(call) EXPECT((call) == CUDA_SUCCESS)

inline void use_device(CUdevice device) {
  CUcontext context;
  WELL(cuInit(0));
  WELL(cuDevicePrimaryCtxRetain(&context, device));
  WELL(cuCtxSetCurrent(context));
}

inline CUdeviceptr allocate(std::size_t bytes = kBytes) {
  CUdeviceptr address;
  WELL(cuMemAlloc(&address, bytes));
  return address;
}

inline CUmemAllocationProp on_device(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

inline void make_accessible(CUdeviceptr address, std::size_t bytes) {
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  WELL(cuMemSetAccess(address, bytes, &access, 1));
}
