// Memory known from drivers, by address. A look-up takes no lock: it reads an entry and then checks
// whether the table changed meanwhile. Changes are rare, and one at a time. No thread waits long
// for another: memory that cannot be kept now is asked for again.
//
// Cost of a look-up: a binary search, 20 ns. Constant-initialised; untouched parts cost no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

using log::MemoryId;

struct Interval {
  std::uintptr_t begin, end;  // [begin, end)
  std::uint64_t buffer_id;
  MemoryId memory;
  log::DeviceMemoryKind kind = log::DeviceMemoryKind::none;
  log::Vendor vendor = log::Vendor::none;  // whose memory it is, and the device
  std::int16_t device = -1;
  // When it was allocated, if it was reported by the history (attributor.hpp), which will also
  // report its end; else 0.
  std::uint64_t allocated_tick = 0;

  bool overlaps(std::uintptr_t from, std::uintptr_t to) const { return begin < to && from < end; }
  bool is_of_history() const { return allocated_tick != 0; }
  // Whether two answers of a driver may mean the same allocation.
  bool is_like(const Interval& other) const {
    return begin == other.begin && end == other.end && buffer_id == other.buffer_id &&
           kind == other.kind && vendor == other.vendor && device == other.device;
  }
};

class IntervalCache {
 public:
  static constexpr std::size_t kMost = 4096;

  // How often to try while the table is being changed: for memory that can be asked for again, and
  // for memory that cannot.
  static constexpr int kTriesToKeep = 100, kPatience = 10000;

  // The interval that contains the address. False: none, or the table is being changed.
  bool find(std::uintptr_t address, Interval& found) const {
    if (stale_.load(std::memory_order_acquire)) return false;
    for (int tries = 0; tries < kPatience; ++tries) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      if ((before & 1) != 0) continue;
      const bool there = search(address, found);
      if (version_.load(std::memory_order_relaxed) == before) return there;
    }
    return false;
  }

  // The first interval that begins at the address or later. For slow paths: waits while the table
  // is being changed.
  bool next(std::uintptr_t address, Interval& found) const {
    for (int tries = 0; tries < kEndlessPatience; ++tries) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      if ((before & 1) != 0) continue;
      const std::size_t at = lower_bound(address);
      const bool there = at < count_.load(std::memory_order_acquire);
      if (there) found = entries_[at].load();
      if (version_.load(std::memory_order_relaxed) != before) continue;
      return there && !stale_.load(std::memory_order_acquire);
    }
    return false;
  }

  // Keeps an interval in place of all that it overlaps, and calls `ended` for each of these. If an
  // equal one is there and `interval` is not from the history, that one stays and its memory is the
  // result; otherwise the result is the memory of `interval`. A full table drops another interval,
  // which is then asked for again. kMemoryNotAsked: not kept, because the table is busy. Intervals
  // of the history try longer: they cannot be asked for again.
  template <typename Ended>
  MemoryId insert(const Interval& interval, Ended ended) {
    if (!lock(interval.is_of_history() ? kPatience : kTriesToKeep)) {
      return log::kMemoryNotAsked;
    }
    if (stale_.exchange(false, std::memory_order_acq_rel)) {
      remove_overlapping(0, UINTPTR_MAX, ended);
    }
    const std::size_t at = lower_bound(interval.begin);
    MemoryId memory = interval.memory;
    if (!interval.is_of_history() && at < count_ && entries_[at].load().is_like(interval)) {
      memory = entries_[at].load().memory;
    } else {
      remove_overlapping(interval.begin, interval.end, ended);
      if (count_ == kMost) give_one_up(ended);
      put(lower_bound(interval.begin), interval);
    }
    unlock();
    return memory;
  }

  // Forgets all that overlap the range. False: the table was busy for too long; everything is then
  // forgotten before the next find.
  template <typename Ended>
  bool forget(std::uintptr_t begin, std::uintptr_t end, Ended ended) {
    if (!lock(kPatience)) {
      stale_.store(true, std::memory_order_release);
      return false;
    }
    remove_overlapping(begin, end, ended);
    unlock();
    return true;
  }

  // Forgets only this one, if it is still there.
  template <typename Ended>
  void forget_one(const Interval& interval, Ended ended) {
    if (!lock(kPatience)) {
      stale_.store(true, std::memory_order_release);
      return;
    }
    const std::size_t at = lower_bound(interval.begin);
    if (at < count_ && entries_[at].load().memory == interval.memory) {
      ended(entries_[at].load());
      remove(at, at + 1);
    }
    unlock();
  }

  // Forgets all, even if a thread was changing the table. For a fork child, which does not have
  // that thread.
  void clear() {
    count_.store(0, std::memory_order_relaxed);
    stale_.store(false, std::memory_order_relaxed);
    version_.store((version_.load(std::memory_order_relaxed) | 1) + 1, std::memory_order_release);
  }

 private:
  static constexpr int kEndlessPatience = 100'000'000;

  // May be read while it is written, word by word. A reader that sees a new word will then also see
  // the version under which it was written.
  class Entry {
   public:
    Interval load() const {
      const std::uint64_t rest = rest_.load(std::memory_order_acquire);
      return {.begin = begin(),
              .end = end_.load(std::memory_order_acquire),
              .buffer_id = buffer_id_.load(std::memory_order_acquire),
              .memory = static_cast<MemoryId>(rest),
              .kind = static_cast<log::DeviceMemoryKind>(rest >> 32 & 0xff),
              .vendor = static_cast<log::Vendor>(rest >> 40 & 0xff),
              .device = static_cast<std::int16_t>(rest >> 48),
              .allocated_tick = allocated_tick_.load(std::memory_order_acquire)};
    }
    void store(const Interval& interval) {
      begin_.store(interval.begin, std::memory_order_release);
      end_.store(interval.end, std::memory_order_release);
      buffer_id_.store(interval.buffer_id, std::memory_order_release);
      allocated_tick_.store(interval.allocated_tick, std::memory_order_release);
      rest_.store(interval.memory | std::uint64_t{static_cast<std::uint8_t>(interval.kind)} << 32 |
                      std::uint64_t{static_cast<std::uint8_t>(interval.vendor)} << 40 |
                      std::uint64_t{static_cast<std::uint16_t>(interval.device)} << 48,
                  std::memory_order_release);
    }
    std::uintptr_t begin() const { return begin_.load(std::memory_order_acquire); }

   private:
    std::atomic<std::uintptr_t> begin_, end_;
    std::atomic<std::uint64_t> buffer_id_, allocated_tick_, rest_;
  };

  bool lock(int patience) {
    for (int tries = 0; tries < patience; ++tries) {
      std::uint64_t before = version_.load(std::memory_order_relaxed);
      if ((before & 1) == 0 &&
          version_.compare_exchange_weak(before, before + 1, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }
  void unlock() { version_.fetch_add(1, std::memory_order_release); }

  // The first entry that begins at the address or later.
  std::size_t lower_bound(std::uintptr_t address) const {
    std::size_t from = 0, to = count_.load(std::memory_order_acquire);
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if (entries_[middle].begin() < address) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  bool search(std::uintptr_t address, Interval& found) const {
    const std::size_t after = lower_bound(address + 1);
    if (after == 0) return false;
    found = entries_[after - 1].load();
    return address - found.begin < found.end - found.begin;
  }

  template <typename Ended>
  void remove_overlapping(std::uintptr_t begin, std::uintptr_t end, Ended ended) {
    std::size_t first = lower_bound(begin);
    if (first > 0 && entries_[first - 1].load().overlaps(begin, end)) --first;
    const std::size_t count = count_;
    std::size_t last = first;
    while (last < count && entries_[last].load().overlaps(begin, end)) {
      ended(entries_[last++].load());
    }
    if (last != first) remove(first, last);
  }

  void remove(std::size_t first, std::size_t last) {
    const std::size_t count = count_;
    for (std::size_t i = last; i < count; ++i) entries_[first + i - last].store(entries_[i].load());
    count_.store(count - (last - first), std::memory_order_release);
  }

  // Drops intervals in turn: most of a full table was freed long ago, unnoticed. Those of the
  // history are dropped last, because no driver knows their times.
  template <typename Ended>
  void give_one_up(Ended ended) {
    std::size_t at = next_to_go_++ % kMost;
    for (std::size_t tries = 1; tries < kMost && entries_[at].load().is_of_history(); ++tries) {
      at = next_to_go_++ % kMost;
    }
    ended(entries_[at].load());
    remove(at, at + 1);
  }

  void put(std::size_t at, const Interval& interval) {
    const std::size_t count = count_;
    for (std::size_t i = count; i > at; --i) entries_[i].store(entries_[i - 1].load());
    entries_[at].store(interval);
    count_.store(count + 1, std::memory_order_release);
  }

  std::atomic<std::uint64_t> version_{0};  // odd: being changed
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stale_{false};
  std::size_t next_to_go_ = 0;  // changed under the lock
  Entry entries_[kMost]{};
};

}  // namespace uctrace::gpu
