// What is known of the newest handles of a kind. A handle may come again after its object is gone:
// then the newer value counts. Not for the record path: it takes a lock, and looks at all entries.
#pragma once

#include <atomic>
#include <cstddef>

#include "interpose/fork_lock.hpp"

namespace uctrace::interpose {

template <typename Handle, typename Value, std::size_t kMost>
class Newest {
 public:
  // Replaces the oldest entry if there is no room.
  void remember(Handle handle, const Value& value) {
    const Held held(lock_);
    Entry* entry = find(handle);
    if (entry == nullptr) entry = &entries_[next_++ % kMost];
    // A fork child may find the lock held, and what is here after any of these stores. fork() takes
    // from every processor the stores that it has made, so only the compiler could change their
    // order.
    entry->handle = Handle{};
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry->value = value;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry->handle = handle;
  }

  // Value{}: nothing is known of it.
  Value of(Handle handle) {
    const Held held(lock_);
    const Entry* entry = handle != Handle{} ? find(handle) : nullptr;
    return entry != nullptr ? entry->value : Value{};
  }

 private:
  struct Entry {
    Handle handle;
    Value value;
  };

  Entry* find(Handle handle) {
    for (Entry& entry : entries_) {
      if (entry.handle == handle) return &entry;
    }
    return nullptr;
  }

  ForkLock lock_{};
  Entry entries_[kMost]{};
  std::size_t next_ = 0;
};

}  // namespace uctrace::interpose
