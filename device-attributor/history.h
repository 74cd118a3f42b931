/* The history of a GPU's memory: reports to uctrace by a library that sees the program's
 * allocations from a driver, as cupti/ does. Others (with the Compute Sanitizer API, ROCm's or
 * Level Zero's tools) need only this header; `record --gpu-history` with the environment variable
 * UCTRACE_GPU_HISTORY puts them into the job.
 *
 * The library finds the function by dlsym(RTLD_DEFAULT, "uctrace_device_event"). If there is none,
 * uctrace is not in the process.
 *
 * May be called on any thread, inside the driver's own functions: it asks the driver nothing and
 * does not wait. Times are those of the calls. */
#ifndef UCTRACE_DEVICE_HISTORY_H
#define UCTRACE_DEVICE_HISTORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UCTRACE_DEVICE_EVENT_VERSION 2

enum uctrace_device_event_type {
  /* Once, before anything is allocated: all later allocations and their ends will be reported.
   * `text` says by whom. Not from within a function of the driver that uses memory. */
  UCTRACE_HISTORY_BEGINS = 1,
  /* Instead: there will be no history; `text` says why. */
  UCTRACE_HISTORY_REFUSED = 2,
  /* After the call that allocated it, or mapped it there, has succeeded. */
  UCTRACE_MEMORY_ALLOCATED = 3,
  /* Before the call that frees or unmaps it: afterwards another thread may have the address.
   * `bytes` 0: the allocation that contains `begin`; else all in the range. If the call fails,
   * uctrace asks the driver when the memory is used again. */
  UCTRACE_MEMORY_FREED = 4
};

enum uctrace_device_memory_kind {
  /* Not known: uctrace asks the driver when it is used. */
  UCTRACE_MEMORY_UNKNOWN = 0,
  UCTRACE_MEMORY_DEVICE = 1,
  UCTRACE_MEMORY_POOL = 2,
  UCTRACE_MEMORY_MANAGED = 3,
  /* Physical memory of a device, or of the host, mapped at a range of addresses. */
  UCTRACE_MEMORY_MAPPED = 4,
  UCTRACE_MEMORY_MAPPED_HOST = 5,
  /* Of the host, allocated by the driver or registered with it. */
  UCTRACE_MEMORY_PINNED = 6,
  /* Of another process. */
  UCTRACE_MEMORY_IMPORTED = 7
};

/* Whose driver allocated it. */
enum uctrace_device_vendor {
  UCTRACE_VENDOR_CUDA = 1,
  UCTRACE_VENDOR_ROCM = 2,
  UCTRACE_VENDOR_LEVEL_ZERO = 3
};

struct uctrace_device_event {
  uint32_t version; /* UCTRACE_DEVICE_EVENT_VERSION; another one is refused */
  uint32_t type;    /* enum uctrace_device_event_type */
  uint64_t begin, bytes;
  uint32_t kind;    /* enum uctrace_device_memory_kind */
  int32_t device;   /* ordinal among the vendor's devices in this process; -1: the host */
  const char* text; /* one line; is copied */
  uint32_t vendor;  /* of an allocation: enum uctrace_device_vendor */
};

void uctrace_device_event(const struct uctrace_device_event* event);

#ifdef __cplusplus
}
#endif

#endif
