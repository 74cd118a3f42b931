// Shared by the programs that use UCP on memory of GPUs without any MPI: two processes, and one
// file for each with what is true of its memory.
#pragma once

#include <stdarg.h>

#include "ucp_truth.h"

__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  _exit(1);
}

static inline void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("out of memory: %zu bytes", bytes);
  return memory;
}

#include "device_memory.h"

// As uctrace names it: kind and GPU, null where it is on no device. For the truth file.
static inline void write_place(const char* memory, CUdevice device) {
  char host[64] = "", gpu[kGpuNameBytes];
  if (strcmp(memory, "host") == 0) {
    fprintf(truth_file, "\"memory\":\"host\",\"gpu\":null");
    return;
  }
  gethostname(host, sizeof host - 1);
  name_gpu(device, gpu);
  fprintf(truth_file, "\"memory\":\"%s\",\"gpu\":\"%s/%s\"", memory, host, gpu);
}

// The memory type passed to UCX for memory of this kind, as UCX does not see all allocations.
static inline ucs_memory_type_t ucx_type_of(const struct memory_kind* kind) {
  if (strcmp(kind->memory, "host") == 0) return UCS_MEMORY_TYPE_HOST;
  return strcmp(kind->memory, "managed") == 0 ? UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
}
