// Copies and fills. Addresses tell where they lead, so that all forms are one.
#include "api.hpp"
#include "memory.hpp"
#include "streams.hpp"

using namespace virtual_gpu;

namespace {

Address at(const void* address) { return reinterpret_cast<Address>(address); }

CUresult copy_now(const char* function, Address to, Address from, std::size_t bytes) {
  return run(function, Needs::context, [&] {
    const CUresult before = run_all_streams();
    return before != CUDA_SUCCESS ? before : memory().copy(to, from, bytes);
  });
}

CUresult copy_in_stream(const char* function, CUstream stream, Address to, Address from,
                        std::size_t bytes) {
  return run(function, Needs::context, [&] { return queue_copy(stream, to, from, bytes); });
}

CUresult fill_now(const char* function, Address to, unsigned value, std::size_t value_bytes,
                  std::size_t count) {
  return run(function, Needs::context, [&] {
    const CUresult before = run_all_streams();
    return before != CUDA_SUCCESS ? before : memory().fill(to, value, value_bytes, count);
  });
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_now("cuMemcpy", to, from, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy_now("cuMemcpyHtoD_v2", to, at(from), bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy_now("cuMemcpyDtoH_v2", at(to), from, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_now("cuMemcpyDtoD_v2", to, from, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                          CUstream stream) {
  return copy_in_stream("cuMemcpyAsync", stream, to, from, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                                              CUstream stream) {
  return copy_in_stream("cuMemcpyHtoDAsync_v2", stream, to, at(from), bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                                              CUstream stream) {
  return copy_in_stream("cuMemcpyDtoHAsync_v2", stream, at(to), from, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                              CUstream stream) {
  return copy_in_stream("cuMemcpyDtoDAsync_v2", stream, to, from, bytes);
}

VIRTUAL_GPU_EXPORT CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  return fill_now("cuMemsetD8_v2", to, value, 1, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill_now("cuMemsetD32_v2", to, value, sizeof value, count);
}
