// Starts the threads of the recorder. Private to event-log/.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace uctrace::log {

namespace detail {

inline bool create_thread(void* (*run)(void*), std::size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes != 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
  }
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, run, nullptr);
  pthread_attr_destroy(&attributes);
  return failed == 0;
}

}  // namespace detail

// A detached thread with all signals blocked: the program's handlers never run on it, and a signal
// that its own writing raises (SIGXFSZ) hurts nobody. False: the process may have no more threads.
inline bool spawn_thread(void* (*run)(void*)) {
  constexpr std::size_t kStack = 256 * 1024;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // A program's thread-local variables lie on the stack too: where they are large, a small one is
  // refused.
  const bool created = detail::create_thread(run, kStack) || detail::create_thread(run, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return created;
}

// Ends such a thread when the process ends. Not by returning: the C library then gives parts of the
// stack back by a function that libraries of MPI and UCX patch to watch memory, and some of them
// (Open MPI 4.1) have left the patch in place when they were unloaded.
[[noreturn]] inline void leave_thread() {
  for (;;) syscall(SYS_exit, 0);
}

}  // namespace uctrace::log
