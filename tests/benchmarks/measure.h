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

// CPU time of all threads of this process except the calling one. Signed, because the two readings
// are not simultaneous.
static inline int64_t other_threads_cpu_ns(void) {
  const uint64_t mine = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return (int64_t)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - mine);
}

// Counts what this thread executes in user mode; unlike times, it is the same on a busy machine.
// -1 if the machine or the kernel's settings do not allow counting.
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

// --- batches of operations on the clocks of one thread ------------------------------------------

struct costs {
  unsigned long batches, done;
  uint64_t *cpu, *wall;  // of each batch, ns; while it runs, when it started
  int counter;           // of instructions
  uint64_t instructions;
  int64_t others_cpu;
};

static inline struct costs allocate_costs(unsigned long batches) {
  struct costs costs = {.batches = batches,
                        .cpu = calloc(batches + 1, sizeof *costs.cpu),
                        .wall = calloc(batches + 1, sizeof *costs.wall)};
  if (costs.cpu == NULL || costs.wall == NULL) {
    fprintf(stderr, "no memory for %lu batches\n", batches);
    exit(1);
  }
  return costs;
}

static inline void start_costs(struct costs* costs) {
  costs->counter = open_instruction_counter();
  costs->others_cpu = other_threads_cpu_ns();
  costs->instructions = read_counter(costs->counter);
}

static inline void start_batch(struct costs* costs, unsigned long pause_us) {
  if (pause_us > 0) usleep((useconds_t)pause_us);
  costs->cpu[costs->done] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  costs->wall[costs->done] = clock_ns(CLOCK_MONOTONIC);
}

static inline void end_batch(struct costs* costs) {
  uint64_t *wall = &costs->wall[costs->done], *cpu = &costs->cpu[costs->done];
  *wall = clock_ns(CLOCK_MONOTONIC) - *wall;
  *cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - *cpu;
  ++costs->done;
}

static inline void end_costs(struct costs* costs) {
  costs->instructions = read_counter(costs->counter) - costs->instructions;
  costs->others_cpu = other_threads_cpu_ns() - costs->others_cpu;
}

static inline void print_per_operation(const char* name, const uint64_t* ns, unsigned long batches,
                                       unsigned long operations) {
  printf("\"%s\":[", name);
  for (unsigned long i = 0; i < batches; ++i) {
    printf("%s%.2f", i > 0 ? "," : "", (double)ns[i] / (double)operations);
  }
  printf("],");
}

// Begins a JSON object, which the caller ends.
static inline void print_costs(const struct costs* costs, unsigned long operations) {
  const double all = (double)costs->batches * (double)operations;
  printf("{");
  print_per_operation("cpu_ns", costs->cpu, costs->batches, operations);
  print_per_operation("wall_ns", costs->wall, costs->batches, operations);
  printf("\"other_threads_cpu_ns\":%.2f,", (double)costs->others_cpu / all);
  if (costs->counter >= 0) printf("\"instructions\":%.1f,", (double)costs->instructions / all);
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
