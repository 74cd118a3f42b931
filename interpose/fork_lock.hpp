// A lock that a fork child finds open. A lock of libc stays held in the child for good if another
// thread of the parent held it at the fork: the child does not have that thread, and waits for
// ever.
//
// A fork may leave the guarded data half changed. It must be valid after each single store made
// under the lock, or be rebuilt by the caller that is told that it took the lock over.
#pragma once

#include <atomic>
#include <cstdint>

namespace uctrace::interpose {

// Differs between a process and those that it was forked from; never 0. A load or two; may be
// called in a signal handler.
std::uint32_t process_number();

class ForkLock {
 public:
  // True: taken over from a thread of the process that this one was forked from.
  bool lock();
  void unlock() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> holder_{0};  // the number of the process whose thread holds it
};

// The same, but the thread that holds it may take it again.
class RecursiveForkLock {
 public:
  bool lock();
  void unlock();

 private:
  ForkLock lock_;
  std::atomic<const void*> owner_{nullptr};
  std::atomic<std::uint32_t> owner_process_{0};
  unsigned depth_ = 0;
};

template <typename Lock>
class Held {
 public:
  explicit Held(Lock& lock) : lock_(lock), taken_over_(lock.lock()) {}
  ~Held() { lock_.unlock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  bool taken_over() const { return taken_over_; }

 private:
  Lock& lock_;
  bool taken_over_;
};

}  // namespace uctrace::interpose
