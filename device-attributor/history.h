/* The history of a GPU's memory: what a library tells uctrace that sees what the program allocates
 * of a driver, as cupti/ does. Any other that does (the Compute Sanitizer API, ROCm's or Level
 * Zero's tools) can be written against this alone; `record --gpu-history` with the environment
 * variable UCTRACE_GPU_HISTORY puts it into the job.
 *
 * It finds the function by dlsym(RTLD_DEFAULT, "uctrace_device_event"). Where that is not there,
 * uctrace is not in the process, and there is nobody to tell.
 *
 * May be called on any thread, inside the driver's own functions: nothing is asked of the driver,
 * and nothing waits. Times are those of the calls. */
#ifndef UCTRACE_DEVICE_HISTORY_H
#define UCTRACE_DEVICE_HISTORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UCTRACE_DEVICE_EVENT_VERSION 2

enum uctrace_device_event_type {
  /* Once, before anything is allocated: whatever is allocated from now on is told, and so is its
   * end. `text` says by whom. Not from within a function of the driver that uses memory. */
  UCTRACE_HISTORY_BEGINS = 1,
  /* Instead: there will be no history; `text` says why. */
  UCTRACE_HISTORY_REFUSED = 2,
  /* After the call that allocated it, or mapped it there, has succeeded. */
  UCTRACE_MEMORY_ALLOCATED = 3,
  /* Before the call that frees or unmaps it, for afterwards another thread may have the address.
   * `bytes` 0: the allocation that has the address `begin`; else all in the range. If the call
   * fails, uctrace asks the driver when the memory is used again. */
  UCTRACE_MEMORY_FREED = 4
};

enum uctrace_device_memory_kind {
  /* Cannot be told: uctrace asks when it is used. */
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
  int32_t device;   /* its ordinal, as the process counts the vendor's; -1: the host's */
  const char* text; /* of one line; is copied */
  uint32_t vendor;  /* of an allocation: enum uctrace_device_vendor */
};

void uctrace_device_event(const struct uctrace_device_event* event);

#ifdef __cplusplus
}
#endif

#endif
