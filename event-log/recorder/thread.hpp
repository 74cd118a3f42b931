// Starts the threads of the recorder. Private to event-log/.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder/futex.hpp"

namespace uctrace::log {

namespace detail {

inline bool create_thread(void* (*run)(void*), std::size_t stack_bytes, pthread_t* joined) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (joined == nullptr) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  }
  if (stack_bytes != 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
  }
  pthread_t thread;
  const int failed =
      pthread_create(joined != nullptr ? joined : &thread, &attributes, run, nullptr);
  pthread_attr_destroy(&attributes);
  return failed == 0;
}

}  // namespace detail

inline constexpr std::size_t kThreadStack = 256 * 1024;
inline constexpr std::size_t kUsualStack = 0;  // as large as for the program's threads

// Starts a thread with all signals blocked: the program's handlers never run on it, and a signal
// caused by its writes (SIGXFSZ) does no harm. It is detached, unless `joined` receives its id.
// False: the process can have no more threads.
inline bool spawn_thread(void* (*run)(void*), std::size_t stack_bytes = kThreadStack,
                         pthread_t* joined = nullptr) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // A program's thread-local variables are on the stack, too: if they are large, a small stack is
  // refused.
  const bool created = detail::create_thread(run, stack_bytes, joined) ||
                       detail::create_thread(run, kUsualStack, joined);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return created;
}

// Returns when the thread has made its last system call. The waiting thread cannot be cancelled
// here, where the program would not expect it.
inline void join_thread(pthread_t thread) {
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_join(thread, nullptr);
  pthread_setcancelstate(before, nullptr);
}

// From now on the word tells whether the calling thread, one of ours, lives: 0 once it is gone,
// even if a sandbox killed it inside a call. The word replaces the one by which the C library joins
// the thread.
inline void tell_life(std::atomic<std::uint32_t>& lives) {
  lives.store(1, std::memory_order_relaxed);
  const long tid = syscall(SYS_set_tid_address, &lives);
  if (tid > 0) lives.store(static_cast<std::uint32_t>(tid), std::memory_order_relaxed);
}

// Ends such a thread when the process ends. Not by returning: the C library would then release
// parts of the stack by a function that MPI and UCX patch to watch memory, and some (Open MPI 4.1)
// leave the patch in place when they are unloaded. If a sandbox refuses, the thread sleeps until
// the process is gone.
[[noreturn]] inline void leave_thread() {
  std::atomic<std::uint32_t> never{0};
  for (;;) {
    syscall(SYS_exit, 0);
    constexpr long kRestNs = 100'000'000;
    if (!futex_wait(never, 0, kRestNs)) sched_yield();
  }
}

}  // namespace uctrace::log
