// Which memory an address is: what a driver said of it, as long as that holds.
//
// The one exemption from the laws of the record path: an address that is not known, or may be
// another allocation's by now, is asked of the driver. Memory of the host is never remembered as
// such: a driver may later put something else there, and not all of that is announced.
//
// An allocation is trusted to be there until its end is told if its beginning was told, by UCX's
// memory hooks: they see both or nothing. What they do not see (pools, mapped memory, imported
// memory, whatever was allocated before they were there) is checked by its buffer id at each use.
//
// A history of allocations (history.h) tells more: also what an allocation is, and all of them.
// What it told is not asked for at all, and known from the moment on at which it was allocated.
//
// Everything is safe on any thread. forget(), announce() and allocated() ask nothing and may be
// called inside the driver's own functions, also before there is anyone to ask or tell.
#pragma once

#include "device-attributor/interval_cache.hpp"
#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

using log::MemoryEnd;

// Who is told of allocations, once each, and of each question to the driver. Called on the thread
// that found it.
struct Listener {
  void (*defined)(MemoryId memory, const Answer& answer);
  void (*ended)(MemoryId memory, MemoryEnd end);
  void (*failed)(int error);
  void (*asked)() = [] {};
};

inline constexpr Listener kNobody{.defined = [](MemoryId, const Answer&) {},
                                  .ended = [](MemoryId, MemoryEnd) {},
                                  .failed = [](int) {}};

class Attributor {
 public:
  // Before the first look-up.
  void use(const Vendor& vendor, const Listener& listener) {
    vendor_ = &vendor;
    listener_.store(&listener, std::memory_order_release);
  }

  MemoryId memory_of(std::uintptr_t address);

  // Where the memory ends that memory_of() has found at the address, 0 = that is not known.
  std::uintptr_t end_of(std::uintptr_t address) const;

  // A range was allocated, and its end will be told.
  void announce(std::uintptr_t begin, std::size_t bytes);

  // The history: what was allocated, where and when. kMemoryNotAsked: there is no room for it; it
  // is asked for when it is used.
  MemoryId allocated(Interval interval);

  // `use` of each allocation of the history that is there; of those that come or go meanwhile, of
  // some.
  template <typename Use>
  void each_allocated(Use use) const {
    Interval one{};
    for (std::uintptr_t at = 0; cache_.next(at, one); at = one.begin + 1) {
      if (one.allocated_tick != 0) use(one);
    }
  }

  // Whatever was there is over. False: the table was busy for too long, and all is forgotten.
  bool forget(std::uintptr_t begin, std::size_t bytes);

  // Nothing of what was known in the process that this one was forked from. Numbers go on.
  void start_anew();

 private:
  // The newest ranges that were announced. One that is not among them any more is not trusted.
  static constexpr std::size_t kAnnounced = 1024;
  struct Range {
    std::atomic<std::uintptr_t> begin, end;
  };

  const Listener& listener() const { return *listener_.load(std::memory_order_acquire); }
  MemoryId ask(std::uintptr_t address);
  bool is_trusted(const Answer& answer) const;
  bool is_still_there(const Interval& known, std::uintptr_t address) const;

  const Vendor* vendor_ = nullptr;
  std::atomic<const Listener*> listener_{&kNobody};
  std::atomic<MemoryId> next_{log::kFirstDeviceMemory};
  IntervalCache cache_;
  Range announced_[kAnnounced]{};
  std::atomic<std::size_t> announcements_{0};
};

}  // namespace uctrace::gpu
