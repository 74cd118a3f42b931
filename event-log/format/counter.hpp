// Numbers that one thread adds to while others may read them: positions, ids and counters of a
// lane. Adding is one instruction without a lock prefix, so that a signal handler on the same
// thread cannot interrupt it halfway. ThreadSanitizer cannot see into it and gets the portable
// form, which means the same.
#pragma once

#include <cstdint>

namespace uctrace::log {

#if defined(__SANITIZE_THREAD__)
#define UCTRACE_PORTABLE_ADD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UCTRACE_PORTABLE_ADD 1
#endif
#endif
#if !defined(__x86_64__) && !defined(UCTRACE_PORTABLE_ADD)
#define UCTRACE_PORTABLE_ADD 1
#endif

// Adds and returns the value before: a signal handler in between gets a place or id of its own.
inline std::uint64_t advance(std::uint64_t& value, std::uint64_t by) {
#ifdef UCTRACE_PORTABLE_ADD
  return __atomic_fetch_add(&value, by, __ATOMIC_RELAXED);
#else
  std::uint64_t before = by;
  __asm__ volatile("xaddq %0, %1" : "+r"(before), "+m"(value) : : "cc", "memory");
  return before;
#endif
}

struct Counter {
  std::uint64_t value;

  operator std::uint64_t() const { return __atomic_load_n(&value, __ATOMIC_RELAXED); }
  Counter& operator=(std::uint64_t number) {
    __atomic_store_n(&value, number, __ATOMIC_RELAXED);
    return *this;
  }
  Counter& operator+=(std::uint64_t by) {
#ifdef UCTRACE_PORTABLE_ADD
    __atomic_fetch_add(&value, by, __ATOMIC_RELAXED);
#else
    if (__builtin_constant_p(by) && by == 0) {
      return *this;
    }
    __asm__("addq %1, %0" : "+m"(value) : "er"(by) : "cc");
#endif
    return *this;
  }
  Counter& operator-=(std::uint64_t by) { return *this += -by; }
  Counter& operator++() { return *this += 1; }
};
static_assert(sizeof(Counter) == sizeof(std::uint64_t));

#undef UCTRACE_PORTABLE_ADD

}  // namespace uctrace::log
