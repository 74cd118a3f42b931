// Shared by the benchmark programs: clocks, and the memory of this process. Each program prints one
// JSON object on the standard output of rank 0.
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// CPU time of all threads of this process but the calling one. Signed: the two readings are a
// moment apart.
static inline int64_t other_threads_cpu_ns(void) {
  const uint64_t mine = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return (int64_t)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - mine);
}

// Counts what this thread executes in user mode; unlike times, it is the same on a busy machine.
// -1 where the machine or the kernel's settings allow no counting.
static inline int open_instruction_counter(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
                                  .size = sizeof event,
                                  .config = PERF_COUNT_HW_INSTRUCTIONS,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1};
  return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

static inline uint64_t read_counter(int counter) {
  uint64_t value = 0;
  return counter >= 0 && read(counter, &value, sizeof value) == sizeof value ? value : 0;
}

static inline unsigned long number_argument(int argc, char** argv, int index) {
  char* end = NULL;
  const unsigned long value = index < argc ? strtoul(argv[index], &end, 10) : 0;
  if (end == NULL || *end != '\0') {
    fprintf(stderr, "%s: argument %d must be a number\n", argv[0], index);
    exit(2);
  }
  return value;
}

// Prints `"memory":{"Rss":N,...}`, in KiB: the kernel's own sums over all mappings.
static inline void print_memory(void) {
  FILE* rollup = fopen("/proc/self/smaps_rollup", "r");
  char line[256], name[64];
  unsigned long kib;
  const char* comma = "";
  printf("\"memory\":{");
  while (rollup != NULL && fgets(line, sizeof line, rollup) != NULL) {
    if (sscanf(line, "%63[A-Za-z_]: %lu kB", name, &kib) == 2) {
      printf("%s\"%s\":%lu", comma, name, kib);
      comma = ",";
    }
  }
  printf("}");
  if (rollup != NULL) fclose(rollup);
}
