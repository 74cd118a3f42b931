// Large blocks in memory: on huge pages if the system has them; released memory is reused. Private
// to the spilling.
//
// Most of a merge's memory is written once and read a few times, so the system's cost for a new
// page matters: with pages of 4 KiB it was up to half of all CPU time.
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

  // nullptr: no addresses available. All functions may be called at any time, from any thread.
  void* take(std::size_t bytes);
  void release(void* block);
  // Whether take() gave it. False before the first one.
  bool holds(const void* block) const {
    const char* const begin = begin_.load(std::memory_order_relaxed);
    return begin != nullptr && begin <= block && block < begin + kMostBytes;
  }
  // Returns all memory without blocks to the system, and keeps none from now on.
  void keep_nothing();

  // Bytes of memory kept without a block.
  std::size_t kept_bytes() const;

  // The most bytes kept; blocks from the second size on are not kept at all.
  static constexpr std::size_t kMostKept = 64 << 20, kLargestKept = 32 << 20;

 private:
  static constexpr std::size_t kHugePage = 2 << 20;
  static constexpr std::size_t kStep = 64 << 20;                   // made usable at once, at least
  static constexpr std::size_t kMostBytes = std::size_t{1} << 40;  // addresses, which cost nothing

  struct Free {
    std::size_t bytes;
    std::size_t kept;  // upper bound of the bytes that may be in memory
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
  std::size_t usable_ = 0;  // bytes from there on that blocks may use
  // Free parts, none adjacent to the next: released memory joins its neighbours.
  FreeByPlace free_;
  std::set<std::pair<std::size_t, char*>> by_size_;
  std::size_t kept_ = 0, most_kept_ = kMostKept;
};

}  // namespace uctrace::spill
