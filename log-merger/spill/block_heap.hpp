// Large blocks in memory: on huge pages where the system has them, and what is released is used
// again. Private to the spilling.
//
// Most of a merge's memory is written once and read a few times, so that what the system takes for
// a page that is new counts: with pages of 4 KiB it was up to half of all CPU time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace uctrace::spill {

class BlockHeap {
 public:
  BlockHeap() = default;
  BlockHeap(const BlockHeap&) = delete;
  BlockHeap& operator=(const BlockHeap&) = delete;

  // nullptr: the system gives no addresses. Any of these at any time, from any thread.
  void* take(std::size_t bytes);
  void release(void* block);
  // Whether take() gave it. False before the first one.
  bool holds(const void* block) const {
    const char* const begin = begin_.load(std::memory_order_relaxed);
    return begin != nullptr && begin <= block && block < begin + kMostBytes;
  }
  // Gives the system all memory back in which no block lies, and keeps none from now on.
  void keep_nothing();

  // Memory without a block in it that is not given back.
  std::size_t kept_bytes() const;

  // At most as many bytes are kept, and none of a block that has as many as the second.
  static constexpr std::size_t kMostKept = 64 << 20, kLargestKept = 32 << 20;

 private:
  static constexpr std::size_t kHugePage = 2 << 20;
  static constexpr std::size_t kStep = 64 << 20;                   // made usable at once, at least
  static constexpr std::size_t kMostBytes = std::size_t{1} << 40;  // addresses, which cost nothing

  struct Free {
    std::size_t bytes;
    std::size_t kept;  // of them, at most: those that may be in memory
  };
  using FreeByPlace = std::map<char*, Free>;

  bool reserve();
  bool make_usable(std::size_t bytes);
  void add(char* begin, Free free);
  Free remove(FreeByPlace::iterator free);
  void give_back(FreeByPlace::iterator free);

  mutable std::mutex mutex_;
  std::atomic<char*> begin_ = nullptr;  // of all addresses; on a huge page
  bool failed_ = false;
  std::size_t usable_ = 0;  // bytes from there on in which blocks may lie
  // Parts without a block, none of which touches the next: what is released joins its neighbours.
  FreeByPlace free_;
  std::set<std::pair<std::size_t, char*>> by_size_;
  std::size_t kept_ = 0, most_kept_ = kMostKept;
};

}  // namespace uctrace::spill
