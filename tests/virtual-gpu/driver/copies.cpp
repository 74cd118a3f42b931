// Copies and fills. Addresses identify their memory, so that all forms are the same.
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

// Attributes say when the sources are read and what the places are near to: all of it is done in
// the order of the stream.
VIRTUAL_GPU_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes,
                                               size_t count, CUmemcpyAttributes* attributes,
                                               size_t* first_of_attributes, size_t attribute_count,
                                               CUstream stream) {
  return run("cuMemcpyBatchAsync_v2", Needs::context, [&] {
    const bool is_told = attributes != nullptr && first_of_attributes != nullptr &&
                         attribute_count != 0 && attribute_count <= count;
    if (count == 0 || !is_told || first_of_attributes[0] != 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < attribute_count; ++i) {
      const auto order = attributes[i].srcAccessOrder;
      if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    for (size_t i = 0; i < count; ++i) {
      if (bytes[i] == 0) return CUDA_ERROR_INVALID_VALUE;
      if (const CUresult error = queue_copy(stream, to[i], from[i], bytes[i])) return error;
    }
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  return fill_now("cuMemsetD8_v2", to, value, 1, bytes);
}
VIRTUAL_GPU_EXPORT CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill_now("cuMemsetD32_v2", to, value, sizeof value, count);
}
