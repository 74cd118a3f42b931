// The location of memory that has no address yet, by the handle of physical memory or of the pool.
// The table may drop entries: uctrace then asks the driver.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace uctrace::cupti {

class Places {
 public:
  // The driver reuses handles of freed objects, so the newest entry counts.
  void remember(std::uint64_t handle, CUmemLocation location) {
    Slot& slot = slot_of(handle);
    slot.handle.store(0, std::memory_order_relaxed);
    slot.location.store(packed(location), std::memory_order_release);
    slot.handle.store(handle, std::memory_order_release);
  }

  void forget(std::uint64_t handle) {
    std::uint64_t there = handle;
    slot_of(handle).handle.compare_exchange_strong(there, 0, std::memory_order_relaxed);
  }

  // CU_MEM_LOCATION_TYPE_INVALID: not known.
  CUmemLocation find(std::uint64_t handle) const {
    const Slot& slot = slots_[index_of(handle)];
    if (handle == 0 || slot.handle.load(std::memory_order_acquire) != handle) return kNowhere;
    const std::uint64_t location = slot.location.load(std::memory_order_acquire);
    return slot.handle.load(std::memory_order_relaxed) == handle ? unpacked(location) : kNowhere;
  }

 private:
  static constexpr std::size_t kBits = 12;
  static constexpr CUmemLocation kNowhere{CU_MEM_LOCATION_TYPE_INVALID, 0};
  struct Slot {
    std::atomic<std::uint64_t> handle, location;
  };

  static std::uint64_t packed(CUmemLocation location) {
    return static_cast<std::uint64_t>(location.type) << 32 |
           static_cast<std::uint32_t>(location.id);
  }
  static CUmemLocation unpacked(std::uint64_t location) {
    return {static_cast<CUmemLocationType>(location >> 32), static_cast<int>(location)};
  }
  // Handles are addresses or count up.
  static std::size_t index_of(std::uint64_t handle) {
    return static_cast<std::size_t>(handle * 0x9e3779b97f4a7c15u >> (64 - kBits));
  }
  Slot& slot_of(std::uint64_t handle) { return slots_[index_of(handle)]; }

  Slot slots_[std::size_t{1} << kBits]{};
};

}  // namespace uctrace::cupti
