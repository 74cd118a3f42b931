// A lock that a fork child finds open. One of libc's stays held there for good if another thread of
// the parent held it at the fork: that thread is not in the child, which then waits for ever.
//
// What such a lock guards may be half done in the child: it must be right after any of the stores
// made under it, or be made anew by who is told that it took the lock over.
#pragma once

#include <atomic>
#include <cstdint>

namespace uctrace::interpose {

// Differs between a process and those that it was forked from; never 0. A load or two; may be
// called in a signal handler.
std::uint32_t process_number();

class ForkLock {
 public:
  // True: it was held by a thread of the process from which this one was forked.
  bool lock();
  void unlock() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> holder_{0};  // the number of the process whose thread holds it
};

// One that the thread that holds it may take again.
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
