// How the driver's functions are found, the texts of its errors, and functions that UCX is linked
// with and that the virtual GPUs do not have.
#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string>

#include "api.hpp"

using namespace virtual_gpu;

namespace {

struct ErrorText {
  CUresult error;
  const char *name, *text;
};

constexpr std::array kErrors = {
    ErrorText{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    ErrorText{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    ErrorText{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    ErrorText{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    ErrorText{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    ErrorText{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    ErrorText{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    ErrorText{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    ErrorText{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    ErrorText{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    ErrorText{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
              "an illegal memory access was encountered"},
    ErrorText{CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    ErrorText{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

ErrorText text_of(CUresult error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return known;
  }
  return {error, "CUDA_ERROR_UNKNOWN", "unknown error"};
}

// This library's own functions: a caller must not get an interposed one.
void* own_function(const char* name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_function), &info) == 0) return nullptr;
  static void* const self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(self, name);
}

}  // namespace

VIRTUAL_GPU_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = text_of(error).text;
  return CUDA_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = text_of(error).name;
  return CUDA_SUCCESS;
}

// By the plain name, which means the newest form.
VIRTUAL_GPU_EXPORT CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t,
                                             CUdriverProcAddressQueryResult* result) {
  return run("cuGetProcAddress_v2", Needs::nothing, [&] {
    *function = own_function((std::string(symbol) + "_v2").c_str());
    if (*function == nullptr) *function = own_function(symbol);
    const bool found = *function != nullptr;
    if (result != nullptr) {
      *result = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

// UCX is linked with these: from 1.17 on those of pools, from 1.19 on the others.
#define VIRTUAL_GPU_NOT_THERE(name, ...)                                        \
  VIRTUAL_GPU_EXPORT CUresult name(__VA_ARGS__) {                               \
    VIRTUAL_GPU_PATCHABLE;                                                      \
    return run(#name, Needs::nothing, [] { return CUDA_ERROR_NOT_SUPPORTED; }); \
  }
VIRTUAL_GPU_NOT_THERE(cuLibraryGetGlobal)
VIRTUAL_GPU_NOT_THERE(cuMemPoolExportPointer, CUmemPoolPtrExportData*, CUdeviceptr)
VIRTUAL_GPU_NOT_THERE(cuMemPoolExportToShareableHandle, void*, CUmemoryPool,
                      CUmemAllocationHandleType, unsigned long long)
VIRTUAL_GPU_NOT_THERE(cuMemPoolImportFromShareableHandle, CUmemoryPool*, void*,
                      CUmemAllocationHandleType, unsigned long long)
VIRTUAL_GPU_NOT_THERE(cuMemPoolImportPointer, CUdeviceptr*, CUmemoryPool, CUmemPoolPtrExportData*)
VIRTUAL_GPU_NOT_THERE(cuMemPoolSetAccess, CUmemoryPool, const CUmemAccessDesc*, std::size_t)
VIRTUAL_GPU_NOT_THERE(cuModuleGetGlobal_v2)

// UCX queries the preferred location of managed memory; here there is none.
VIRTUAL_GPU_EXPORT CUresult cuMemRangeGetAttribute(void*, std::size_t, CUmem_range_attribute,
                                                   CUdeviceptr, std::size_t) {
  VIRTUAL_GPU_PATCHABLE;
  return run("cuMemRangeGetAttribute", Needs::nothing, [] { return CUDA_ERROR_NOT_SUPPORTED; });
}
