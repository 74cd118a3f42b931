// Which memory an address is: what the drivers said of it, as long as that holds. There may be
// drivers of several vendors; memory is one's.
//
// The one exemption from the laws of the record path: the driver is asked, at each use. What is
// known is confirmed by its buffer id, which no other memory ever has; what has none, and mapped
// memory, whose id may be that of the range it is mapped at, is asked about in full. So nothing
// depends on being told of an end: UCX's memory hooks do not see all of them (pools, mapped memory,
// contexts and modules that go), and of memory of the host nothing is remembered at all.
//
// A history of allocations (history.h) tells what is allocated, and when that ends. What it told is
// not asked for, and known from the moment on at which it was allocated.
//
// Everything is safe on any thread. forget() and allocated() ask nothing and may be called inside
// the driver's own functions, also before there is anyone to ask or tell.
#pragma once

#include "device-attributor/interval_cache.hpp"
#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

using log::MemoryEnd;

// Who is told of allocations, once each, and of each question to the driver. Called on the thread
// that found it.
struct Listener {
  // False: it could not be noted, and the next use has to tell it again.
  bool (*defined)(MemoryId memory, const Answer& answer);
  void (*ended)(MemoryId memory, MemoryEnd end);
  void (*failed)(int error);
  void (*asked)() = [] {};
  // What the history told had to be given up: its end will not be known.
  void (*gave_up_history)() = [] {};
};

inline constexpr Listener kNobody{.defined = [](MemoryId, const Answer&) { return true; },
                                  .ended = [](MemoryId, MemoryEnd) {},
                                  .failed = [](int) {}};

class Attributor {
 public:
  // Of so much memory without an extent there is a definition; of what more there is, nothing is
  // known.
  static constexpr unsigned kMostWithoutExtent = 1 << 16;

  // From now on the vendor's driver is asked, too. One call at a time, the first one before the
  // first look-up; each vendor once.
  void use(const Vendor& vendor, const Listener& listener) {
    listener_.store(&listener, std::memory_order_release);
    vendors_[place_of(vendor.name)].store(&vendor, std::memory_order_release);
  }

  // There is a driver that cannot be asked: what no other one knows is unknown from now on.
  void distrust_host() { distrusts_host_.store(true, std::memory_order_relaxed); }

  MemoryId memory_of(std::uintptr_t address) {
    Interval found{};
    return find(address, found);
  }

  // The same, and in `found`, which is empty, all that is known: no kind of what is the host's, and
  // where nobody can tell. What could not be noted has no id, but what the driver said.
  MemoryId find(std::uintptr_t address, Interval& found);

  // Where the memory ends that memory_of() has found at the address, 0 = that is not known.
  std::uintptr_t end_of(std::uintptr_t address) const;

  // Whether what memory_of() has found at both of them is of one kind and on one device.
  bool is_same_place(std::uintptr_t one, std::uintptr_t other) const;

  // The history: what was allocated, where and when. kMemoryNotAsked: the table was busy; it is
  // asked for when it is used.
  MemoryId allocated(Interval interval);

  // `use` of each allocation of the history that is there; of those that come or go meanwhile, of
  // some.
  template <typename Use>
  void each_allocated(Use use) const {
    Interval one{};
    for (std::uintptr_t at = 0; cache_.next(at, one); at = one.begin + 1) {
      if (one.is_of_history()) use(one);
    }
  }

  // It could not be noted: it is asked for when it is used.
  void give_up(const Interval& interval) {
    cache_.forget_one(interval, [](const Interval&) {});
  }

  // Whatever was there is over. False: the table was busy for too long, and all is forgotten.
  bool forget(std::uintptr_t begin, std::size_t bytes);

  // Nothing of what was known in the process that this one was forked from. Numbers go on.
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

  std::atomic<const Vendor*> vendors_[kVendorCount]{};  // nullptr: it has not been found
  std::atomic<bool> distrusts_host_{false};
  std::atomic<const Listener*> listener_{&kNobody};
  std::atomic<MemoryId> next_{log::kFirstDeviceMemory};
  std::atomic<unsigned> without_extent_{0};
  IntervalCache cache_;
};

}  // namespace uctrace::gpu
