// Waiting and waking by raw system calls. Private to event-log/.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace uctrace::log {

// Returns when the word has another value, when it is woken, or after `timeout_ns`. If a sandbox
// refuses the call, with whatever error, it sleeps for a while instead, so that waiting loops do
// not spin. False: sleeping is refused, too; a waiting loop would spin.
inline bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_value,
                       long timeout_ns) {
  timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_value, &timeout, nullptr, 0) == 0 ||
      errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) {
    return true;
  }
  constexpr long kMostNs = 5'000'000;
  timeout = {0, timeout_ns < kMostNs ? timeout_ns : kMostNs};
  return nanosleep(&timeout, nullptr) == 0 || errno == EINTR;
}

inline void futex_wake(std::atomic<std::uint32_t>& word, int most = INT32_MAX) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

inline void futex_set(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  futex_wake(word);
}

inline void futex_bump(std::atomic<std::uint32_t>& word, int most = INT32_MAX) {
  word.fetch_add(1, std::memory_order_release);
  futex_wake(word, most);
}

}  // namespace uctrace::log
