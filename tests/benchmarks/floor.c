// The two prices that no recorder can avoid on this machine: a reading of the clock, and the bytes
// stored into a mapped file whose pages are ready.
//
// usage: floor FILE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"

enum { kBatches = 2000, kReadings = 1000, kPageBytes = 4096 };
static const size_t kFileBytes = 64u << 20;
static const size_t kBatchBytes = 256u << 10;  // about what a chunk of the log holds

static inline uint64_t read_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}

static double ns_per_reading(uint64_t (*batch)(void)) {
  double best = 1e9;
  for (int i = 0; i < kBatches; ++i) {
    const uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
    volatile uint64_t sink = batch();
    (void)sink;
    const double ns = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - start) / kReadings;
    best = ns < best ? ns : best;
  }
  return best;
}

static uint64_t read_ticks_often(void) {
  uint64_t sum = 0;
  for (int i = 0; i < kReadings; ++i) sum += read_ticks();
  return sum;
}

static uint64_t read_vdso_often(void) {
  uint64_t sum = 0;
  for (int i = 0; i < kReadings; ++i) sum += clock_ns(CLOCK_MONOTONIC_RAW);
  return sum;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  if (file < 0 || ftruncate(file, (off_t)kFileBytes) != 0) {
    fprintf(stderr, "usage: floor FILE (to be written)\n");
    return 2;
  }
  unlink(argv[1]);
  unsigned char* memory = mmap(NULL, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  for (size_t i = 0; i < kFileBytes; i += kPageBytes) ((volatile unsigned char*)memory)[i] = 0;

  const size_t batches = kFileBytes / kBatchBytes;
  double* ns = calloc(batches, sizeof *ns);
  if (ns == NULL) return 1;
  for (size_t i = 0; i < batches; ++i) {
    volatile uint64_t* at = (volatile uint64_t*)(memory + i * kBatchBytes);
    const uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
    for (size_t j = 0; j < kBatchBytes / sizeof *at; ++j) at[j] = j;
    ns[i] = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - start) / (double)kBatchBytes;
  }
  qsort(ns, batches, sizeof *ns, compare);
  printf(
      "{\"tick_ns\":%.2f,\"vdso_ns\":%.2f,\"store_ns_per_byte_min\":%.4f,"
      "\"store_ns_per_byte_median\":%.4f}\n",
      ns_per_reading(read_ticks_often), ns_per_reading(read_vdso_often), ns[0], ns[batches / 2]);
  return 0;
}
