// The order of stores to memory that another process reads, such as a mapped log.
#pragma once

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <atomic>
#endif

namespace uctrace::log {

// Makes earlier stores visible before later ones. Not std::atomic_thread_fence: this process does
// not read there, and ThreadSanitizer does not know fences.
inline void order_stores() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb ishst" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

}  // namespace uctrace::log
