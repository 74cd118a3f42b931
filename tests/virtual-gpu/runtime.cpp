// libcudart.so.13 of the virtual GPUs: the runtime interface as a thin layer over the driver's.
// There are no kernels.
#include <cuda.h>
#include <cuda_runtime.h>

#define VIRTUAL_GPU_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

thread_local int chosen_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

CUdeviceptr at(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

// Errors that both interfaces know have one number.
cudaError_t told(CUresult result) {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) {
    last_error = static_cast<cudaError_t>(result);
  }
  return static_cast<cudaError_t>(result);
}

CUresult use_device(int ordinal) {
  CUdevice device;
  CUcontext context;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDeviceGet(&device, ordinal);
  if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(&context, device);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

// A thread without a context gets the primary one of the device that it has chosen.
template <typename Use>
cudaError_t in_context(Use use) {
  CUcontext context = nullptr;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuCtxGetCurrent(&context);
  if (result == CUDA_SUCCESS && context == nullptr) result = use_device(chosen_device);
  return told(result == CUDA_SUCCESS ? use() : result);
}

CUdeviceptr* to_driver(void** address) { return reinterpret_cast<CUdeviceptr*>(address); }

}  // namespace

VIRTUAL_GPU_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  const CUresult result = cuInit(0);
  *count = 0;
  return told(result == CUDA_SUCCESS ? cuDeviceGetCount(count) : result);
}

VIRTUAL_GPU_EXPORT cudaError_t cudaGetDevice(int* device) {
  *device = chosen_device;
  return cudaSuccess;
}

VIRTUAL_GPU_EXPORT cudaError_t cudaSetDevice(int device) {
  const CUresult result = use_device(device);
  if (result == CUDA_SUCCESS) chosen_device = device;
  return told(result);
}

VIRTUAL_GPU_EXPORT cudaError_t cudaDeviceSynchronize() { return in_context(cuCtxSynchronize); }

VIRTUAL_GPU_EXPORT cudaError_t cudaMalloc(void** address, size_t bytes) {
  return in_context([&] { return cuMemAlloc(to_driver(address), bytes); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMallocPitch(void** address, size_t* pitch, size_t width,
                                               size_t height) {
  return in_context([&] { return cuMemAllocPitch(to_driver(address), pitch, width, height, 4); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  return in_context([&] { return cuMemAllocManaged(to_driver(address), bytes, flags); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaFree(void* address) {
  return in_context([&] { return cuMemFree(at(address)); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMallocHost(void** address, size_t bytes) {
  return in_context([&] { return cuMemAllocHost(address, bytes); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return in_context([&] { return cuMemHostAlloc(address, bytes, flags); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaFreeHost(void* address) {
  return in_context([&] { return cuMemFreeHost(address); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  return in_context([&] { return cuMemHostRegister(address, bytes, flags); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaHostUnregister(void* address) {
  return in_context([&] { return cuMemHostUnregister(address); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t stream) {
  return in_context([&] { return cuMemAllocAsync(to_driver(address), bytes, stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMallocFromPoolAsync(void** address, size_t bytes,
                                                       cudaMemPool_t pool, cudaStream_t stream) {
  return in_context(
      [&] { return cuMemAllocFromPoolAsync(to_driver(address), bytes, pool, stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return in_context([&] { return cuMemFreeAsync(at(address), stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                                          cudaMemcpyKind) {
  return in_context([&] { return cuMemcpy(at(to), at(from), bytes); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind, cudaStream_t stream) {
  return in_context([&] { return cuMemcpyAsync(at(to), at(from), bytes, stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return in_context([&] { return cuMemsetD8(at(to), static_cast<unsigned char>(value), bytes); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return in_context([&] { return cuStreamCreate(stream, flags); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return in_context([&] { return cuStreamDestroy(stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return in_context([&] { return cuStreamSynchronize(stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return in_context([&] { return cuEventCreate(event, flags); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return in_context([&] { return cuEventDestroy(event); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return in_context([&] { return cuEventRecord(event, stream); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  return in_context([&] { return cuEventQuery(event); });
}

VIRTUAL_GPU_EXPORT cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

VIRTUAL_GPU_EXPORT cudaError_t cudaPeekAtLastError() { return last_error; }

VIRTUAL_GPU_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const char* text;
  cuGetErrorString(static_cast<CUresult>(error), &text);
  return text;
}

VIRTUAL_GPU_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const char* name;
  cuGetErrorName(static_cast<CUresult>(error), &name);
  return name;
}

// UCX from 1.19 on hooks and calls them; there are no variables of kernels.
VIRTUAL_GPU_EXPORT cudaError_t cudaGetSymbolAddress(void**, const void*) {
  return told(CUDA_ERROR_NOT_SUPPORTED);
}
VIRTUAL_GPU_EXPORT cudaError_t cudaGetSymbolSize(size_t*, const void*) {
  return told(CUDA_ERROR_NOT_SUPPORTED);
}
