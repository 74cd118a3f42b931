// Which memory an address belongs to: the drivers' answer, as long as it holds. There may be
// drivers of several vendors; each piece of memory belongs to one.
//
// This is the one exception to the laws of the record path: the driver is asked at each use. Known
// memory is confirmed by its buffer id, which no other memory ever has. Memory without an id gets a
// full query, and so does mapped memory, whose id may be that of its address range. So nothing
// depends on hearing about frees: UCX's memory hooks miss some (pools, mapped memory, destroyed
// contexts, unloaded modules). About host memory nothing is remembered.
//
// A history of allocations (history.h) reports allocations and frees. Memory that it reported is
// known from the moment of its allocation, without asking the driver.
//
// Everything is safe on any thread. forget() and allocated() ask nothing and may be called inside
// the driver's functions, even before there is a driver or a listener.
#pragma once

#include "device-attributor/interval_cache.hpp"
#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

using log::MemoryEnd;

// Hears of each allocation once, and of each question to the driver. Called on the thread that
// found it.
struct Listener {
  // False: it could not be noted; the next use has to report it again.
  bool (*defined)(MemoryId memory, const Answer& answer);
  void (*ended)(MemoryId memory, MemoryEnd end);
  void (*failed)(int error);
  void (*asked)() = [] {};
  // An allocation of the history had to be dropped: its end will not be known.
  void (*gave_up_history)() = [] {};
};

inline constexpr Listener kNobody{.defined = [](MemoryId, const Answer&) { return true; },
                                  .ended = [](MemoryId, MemoryEnd) {},
                                  .failed = [](int) {}};

class Attributor {
 public:
  // How many pieces of memory without an extent are defined; about further ones nothing is known.
  static constexpr unsigned kMostWithoutExtent = 1 << 16;

  // From now on the vendor's driver is asked, too. Call it once per vendor, from one thread at a
  // time, the first time before any look-up.
  void use(const Vendor& vendor, const Listener& listener) {
    listener_.store(&listener, std::memory_order_release);
    vendors_[place_of(vendor.name)].store(&vendor, std::memory_order_release);
  }

  // A driver cannot be asked: from now on memory that no other driver knows is unknown.
  void distrust_host() { distrusts_host_.store(true, std::memory_order_relaxed); }

  MemoryId memory_of(std::uintptr_t address) {
    Interval found{};
    return find(address, found);
  }

  // The same, with everything known in `found`, which must be empty: no kind for host or unknown
  // memory. Memory that could not be noted has no id, but the driver's facts.
  MemoryId find(std::uintptr_t address, Interval& found);

  // The end of the memory that memory_of() found at the address; 0 = not known.
  std::uintptr_t end_of(std::uintptr_t address) const;

  // Whether the memory that memory_of() found at both has the same kind and device.
  bool is_same_place(std::uintptr_t one, std::uintptr_t other) const;

  // Adds an allocation of the history. kMemoryNotAsked: the table was busy; the driver is asked
  // when the memory is used.
  MemoryId allocated(Interval interval);

  // Calls `use` for each live allocation of the history. Of those that come or go meanwhile it sees
  // some.
  template <typename Use>
  void each_allocated(Use use) const {
    Interval one{};
    for (std::uintptr_t at = 0; cache_.next(at, one); at = one.begin + 1) {
      if (one.is_of_history()) use(one);
    }
  }

  // It could not be noted: the driver is asked when the memory is used.
  void give_up(const Interval& interval) {
    cache_.forget_one(interval, [](const Interval&) {});
  }

  // All memory in the range is gone. False: the table was busy for too long, and everything is
  // forgotten.
  bool forget(std::uintptr_t begin, std::size_t bytes);

  // Forgets everything that the parent process knew. Numbers go on.
  void start_anew() { cache_.clear(); }

 private:
  const Listener& listener() const { return *listener_.load(std::memory_order_acquire); }
  Answer query(std::uintptr_t address) const;
  MemoryId ask(std::uintptr_t address, const Interval* known, Interval& found);
  MemoryId keep(const Interval& found, const Answer& answer);
  MemoryId define(const Interval& found, const Answer& answer, bool is_kept);
  MemoryId fail(int error);
  void end_replaced(const Interval& gone) { listener().ended(gone.memory, MemoryEnd::replaced); }
  void make_room(const Interval& gone, const Interval& for_this);

  std::atomic<const Vendor*> vendors_[kVendorCount]{};  // nullptr: not found
  std::atomic<bool> distrusts_host_{false};
  std::atomic<const Listener*> listener_{&kNobody};
  std::atomic<MemoryId> next_{log::kFirstDeviceMemory};
  std::atomic<unsigned> without_extent_{0};
  IntervalCache cache_;
};

}  // namespace uctrace::gpu
