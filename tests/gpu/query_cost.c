// The cost of uctrace's questions to the driver, the answers, and the cost of an allocation, for
// each kind of memory: one JSON object. Runs on one GPU, with any driver; linked only with the
// driver.
//
//     query_cost [QUESTIONS]     of each kind, by default 100000

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static inline void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("out of memory: %zu bytes", bytes);
  return memory;
}

#include "../programs/device_memory.h"

enum { kBytes = 1 << 20 };

static long questions = 100000;

// --- questions -----------------------------------------------------------------------------------

static int ask_attributes(CUdeviceptr address) {
  CUpointer_attribute asked[] = {
      CU_POINTER_ATTRIBUTE_CONTEXT,        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
      CU_POINTER_ATTRIBUTE_BUFFER_ID,      CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* context;
  unsigned type, managed;
  unsigned long long id;
  int ordinal;
  CUdeviceptr begin;
  size_t bytes;
  void* values[] = {&context, &type, &id, &managed, &ordinal, &begin, &bytes};
  return (int)cuPointerGetAttributes(sizeof asked / sizeof *asked, asked, values, address);
}

static unsigned long long buffer_id;

static int ask_buffer_id(CUdeviceptr address) {
  buffer_id = 0;
  return (int)cuPointerGetAttribute(&buffer_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
}

static int ask_handle(CUdeviceptr address) {
  CUmemGenericAllocationHandle handle;
  const CUresult result = cuMemRetainAllocationHandle(&handle, (void*)(uintptr_t)address);
  if (result == CUDA_SUCCESS) CHECK_CUDA(cuMemRelease(handle));
  return (int)result;
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

// The best of five, each of a fifth of the questions.
static double cost_ns(int (*ask)(CUdeviceptr), CUdeviceptr address) {
  const long count = questions / 5 + 1;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double begin = now_ns();
    for (long i = 0; i < count; ++i) ask(address);
    const double each = (now_ns() - begin) / (double)count;
    if (round == 0 || each < best) best = each;
  }
  return best;
}

// The cost of an allocation and its free, to which a history adds.
static double allocation_ns(const char* kind) {
  enum { kRounds = 5, kAllocations = 20 };
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now_ns();
    for (int i = 0; i < kAllocations; ++i) free_memory(allocate_memory(kind, kBytes));
    const double each = (now_ns() - begin) / kAllocations;
    if (round == 0 || each < best) best = each;
  }
  return best;
}

// --- what is told --------------------------------------------------------------------------------

static void write_kind(const char* kind) {
  const struct memory memory = allocate_memory(kind, kBytes);
  printf(",\"%s\":{\"attributes_ns\":%.0f,\"buffer_id_ns\":%.0f,\"handle_ns\":%.0f", kind,
         cost_ns(ask_attributes, memory.address), cost_ns(ask_buffer_id, memory.address),
         cost_ns(ask_handle, memory.address));
  printf(",\"allocation_ns\":%.0f", allocation_ns(kind));
  printf(",\"attributes\":%d,\"buffer_id\":%d,\"handle\":%d", ask_attributes(memory.address),
         ask_buffer_id(memory.address), ask_handle(memory.address));
  const unsigned long long id = buffer_id;
  free_memory(memory);
  CHECK_CUDA(cuCtxSynchronize());
  const struct memory again = allocate_memory(kind, kBytes);
  const int same_address = again.address == memory.address;
  ask_buffer_id(again.address);
  printf(",\"has_id\":%s,\"next\":{\"same_address\":%s,\"same_id\":%s}}",
         id != 0 ? "true" : "false", same_address ? "true" : "false",
         buffer_id == id ? "true" : "false");
  free_memory(again);
}

// Whether the id changes for other physical memory at the same address.
static void write_remap(CUdevice device) {
  const size_t bytes = whole_pages(device, kBytes);
  unsigned long long ids[2];
  CUdeviceptr range;
  CHECK_CUDA(cuMemAddressReserve(&range, bytes, 0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    map_memory_at(range, device, bytes);
    ask_buffer_id(range);
    ids[i] = buffer_id;
    CHECK_CUDA(cuMemUnmap(range, bytes));
  }
  CHECK_CUDA(cuMemAddressFree(range, bytes));
  printf(",\"remap\":{\"has_id\":%s,\"same_id\":%s}", ids[0] != 0 && ids[1] != 0 ? "true" : "false",
         ids[0] == ids[1] ? "true" : "false");
}

int main(int argc, char** argv) {
  char name[256], gpu[kGpuNameBytes];
  int version;
  if (argc > 1) questions = atol(argv[1]);
  const CUdevice device = use_device(0);
  CHECK_CUDA(cuDriverGetVersion(&version));
  CHECK_CUDA(cuDeviceGetName(name, sizeof name, device));
  name_gpu(device, gpu);
  printf("{\"driver\":%d,\"name\":\"%s\",\"gpu\":\"%s\"", version, name, gpu);
  for (size_t i = 0; i < sizeof kMemoryKinds / sizeof *kMemoryKinds; ++i) {
    write_kind(kMemoryKinds[i].name);
  }
  write_remap(device);
  printf("}\n");
  return 0;
}
