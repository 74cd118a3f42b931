// The clock of the record path.
//
// The cycle counter is used only if the kernel itself keeps time with it: then it is constant and
// agrees between cores. Otherwise the vDSO clock is used. start() decides once per process. Cost:
// 11 ns with the TSC, 28 ns with the vDSO (docs/performance.md).
#pragma once

#include <cstdint>
#include <ctime>

#include "event-log/format/file_layout.hpp"
#include "event-log/recorder/own.hpp"

namespace uctrace::log {

UCTRACE_OWN extern Clock tick_clock;  // set before the first record
extern long test_drift_ppm;           // UCTRACE_TEST_CLOCK: by how much too fast the clock should
                                      // seem

inline std::uint64_t monotonic_raw_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  const std::uint64_t ns =
      static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  if (test_drift_ppm != 0) [[unlikely]] {
    return ns +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(ns / 1000) * test_drift_ppm / 1000);
  }
  return ns;
}

inline std::uint64_t now() {
#if defined(__x86_64__)
  if (tick_clock == Clock::tsc) [[likely]] {
    return __builtin_ia32_rdtsc();
  }
#elif defined(__aarch64__)
  if (tick_clock == Clock::cntvct) [[likely]] {
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return monotonic_raw_ns();
}

}  // namespace uctrace::log
