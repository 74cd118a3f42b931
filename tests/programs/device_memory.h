// Memory of each kind that CUDA has, for programs that send it, and the name of its GPU. To be
// included after a header with fail() and allocate(): common.h for MPI programs, gpu_pair.h for
// others.
#pragma once

#include <cuda.h>

#include "contents.h"

static inline void check_cuda(CUresult result, const char* what) {
  const char* text = "";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorString(result, &text);
  fail("%s: %s (%d)", what, text, (int)result);
}
#define CHECK_CUDA(call) check_cuda(call, #call)

// Takes the primary context of a device, chosen by a number that may be larger than there are.
static inline CUdevice use_device(int number) {
  int count;
  CUdevice device;
  CUcontext context;
  CHECK_CUDA(cuInit(0));
  CHECK_CUDA(cuDeviceGetCount(&count));
  CHECK_CUDA(cuDeviceGet(&device, number % count));
  CHECK_CUDA(cuDevicePrimaryCtxRetain(&context, device));
  CHECK_CUDA(cuCtxSetCurrent(context));
  return device;
}

enum { kGpuNameBytes = 64 };

// GPU-01234567-89ab-cdef-0123-456789abcdef, or MIG-... of an instance of one that is divided.
static inline void name_gpu(CUdevice device, char name[kGpuNameBytes]) {
  CUuuid uuid;
  char model[256];
  CHECK_CUDA(cuDeviceGetUuid(&uuid, device));
  CHECK_CUDA(cuDeviceGetName(model, sizeof model, device));
  char* end = name + sprintf(name, strstr(model, " MIG ") != NULL ? "MIG" : "GPU");
  for (int i = 0; i < 16; ++i) {
    const char* dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    end += sprintf(end, "%s%02x", dash, (unsigned char)uuid.bytes[i]);
  }
}

// Memory that the CPU can read, or that migrates, belongs to no single device: as uctrace names it.
static const struct memory_kind {
  const char *name, *memory;
} kMemoryKinds[] = {{"device", "gpu"},      {"pool", "gpu"},    {"vmm", "gpu"},
                    {"managed", "managed"}, {"pinned", "host"}, {"registered", "host"},
                    {"host", "host"}};

static inline const struct memory_kind* find_kind(const char* name) {
  for (size_t i = 0; i < sizeof kMemoryKinds / sizeof *kMemoryKinds; ++i) {
    if (strcmp(kMemoryKinds[i].name, name) == 0) return &kMemoryKinds[i];
  }
  fail("%s is no kind of memory", name);
}

struct memory {
  const struct memory_kind* kind;
  CUdeviceptr address;
  size_t bytes;
};

static inline CUmemAllocationProp physical_memory_of(CUdevice device) {
  return (CUmemAllocationProp){
      .type = CU_MEM_ALLOCATION_TYPE_PINNED,
      .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
  };
}

// Rounded up to the device's granularity of physical memory.
static inline size_t whole_pages(CUdevice device, size_t bytes) {
  const CUmemAllocationProp wanted = physical_memory_of(device);
  size_t unit;
  CHECK_CUDA(cuMemGetAllocationGranularity(&unit, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return (bytes + unit - 1) / unit * unit;
}

// New physical memory of the device, at addresses that were reserved.
static inline void map_memory_at(CUdeviceptr address, CUdevice device, size_t bytes) {
  const CUmemAllocationProp wanted = physical_memory_of(device);
  const CUmemAccessDesc access = {.location = wanted.location,
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle handle;
  CHECK_CUDA(cuMemCreate(&handle, bytes, &wanted, 0));
  CHECK_CUDA(cuMemMap(address, bytes, 0, handle, 0));
  CHECK_CUDA(cuMemSetAccess(address, bytes, &access, 1));
  CHECK_CUDA(cuMemRelease(handle));  // the mapping holds it
}

static inline CUdeviceptr map_memory(size_t* bytes) {
  CUdevice device;
  CUdeviceptr address;
  CHECK_CUDA(cuCtxGetDevice(&device));
  *bytes = whole_pages(device, *bytes);
  CHECK_CUDA(cuMemAddressReserve(&address, *bytes, 0, 0, 0));
  map_memory_at(address, device, *bytes);
  return address;
}

static inline struct memory allocate_memory(const char* kind, size_t bytes) {
  struct memory memory = {.kind = find_kind(kind), .bytes = bytes > 0 ? bytes : 1};
  void* host = NULL;
  if (strcmp(kind, "device") == 0) {
    CHECK_CUDA(cuMemAlloc(&memory.address, memory.bytes));
  } else if (strcmp(kind, "pool") == 0) {
    CHECK_CUDA(cuMemAllocAsync(&memory.address, memory.bytes, NULL));
  } else if (strcmp(kind, "vmm") == 0) {
    memory.address = map_memory(&memory.bytes);
  } else if (strcmp(kind, "managed") == 0) {
    CHECK_CUDA(cuMemAllocManaged(&memory.address, memory.bytes, CU_MEM_ATTACH_GLOBAL));
  } else if (strcmp(kind, "pinned") == 0) {
    CHECK_CUDA(cuMemHostAlloc(&host, memory.bytes, 0));
  } else {
    host = allocate(memory.bytes);
    if (strcmp(kind, "registered") == 0) CHECK_CUDA(cuMemHostRegister(host, memory.bytes, 0));
  }
  if (host != NULL) memory.address = (CUdeviceptr)(uintptr_t)host;
  CHECK_CUDA(cuCtxSynchronize());
  return memory;
}

static inline void free_memory(struct memory memory) {
  void* host = (void*)(uintptr_t)memory.address;
  const char* kind = memory.kind->name;
  if (strcmp(kind, "device") == 0 || strcmp(kind, "managed") == 0) {
    CHECK_CUDA(cuMemFree(memory.address));
  } else if (strcmp(kind, "pool") == 0) {
    CHECK_CUDA(cuMemFreeAsync(memory.address, NULL));
  } else if (strcmp(kind, "vmm") == 0) {
    CHECK_CUDA(cuMemUnmap(memory.address, memory.bytes));
    CHECK_CUDA(cuMemAddressFree(memory.address, memory.bytes));
  } else if (strcmp(kind, "pinned") == 0) {
    CHECK_CUDA(cuMemFreeHost(host));
  } else {
    if (strcmp(kind, "registered") == 0) CHECK_CUDA(cuMemHostUnregister(host));
    free(host);
  }
}

static inline void* buffer_of(struct memory memory) { return (void*)(uintptr_t)memory.address; }

// Contents are made and checked in memory of the host.
static inline void fill_memory(struct memory memory, size_t bytes, uint64_t seed) {
  unsigned char* contents = allocate(bytes);
  fill(contents, bytes, seed);
  if (bytes > 0) CHECK_CUDA(cuMemcpy(memory.address, (CUdeviceptr)(uintptr_t)contents, bytes));
  free(contents);
}

static inline int memory_holds(struct memory memory, size_t bytes, uint64_t seed) {
  unsigned char* contents = allocate(bytes);
  if (bytes > 0) CHECK_CUDA(cuMemcpy((CUdeviceptr)(uintptr_t)contents, memory.address, bytes));
  const int same = holds(contents, bytes, seed);
  free(contents);
  return same;
}
