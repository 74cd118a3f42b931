// The entries of open interfaces, found by their handles. Opening and closing take a lock, finding
// takes none. Entries and ids of closed ones are given to others: a service may open any number.
#pragma once

#include <uct/api/uct.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/ucp_wire.hpp"
#include "event-log/recorder/own.hpp"

namespace uctrace::uct {

struct Interface;
struct UnexpectedTags;

// What an active message handler was before ours took its place.
struct AmHandler {
  uct_am_callback_t callback;
  void* argument;
  Interface* interface;
  std::uint8_t am_id;
};

struct Interface {
  uct_iface_h handle;
  uct_iface_ops_t original;  // valid for the life of the interface
  std::uint16_t id;          // in the log; no other open interface has it
  std::uint32_t counted_as;  // the number of its transport and device in the counters
  bool of_ucp;               // opened by a UCP worker: its AM ids are UCP's
  UnexpectedTags* tags;      // our callbacks for tag offload, nullptr: none were set
  bool swapped;              // its table has our hooks; else its UCX calls them by itself
  bool in_memory;            // short operations are a few stores to memory that both sides share
  bool by_system;  // it sends by calls of the system (tcp): no memory but what the processor reads
  bool copies;     // within this process, to or from an accelerator: both addresses are its
  std::uint16_t device_address_bytes, interface_address_bytes, endpoint_address_bytes;
  AmHandler handlers[wire::kAmIds];
};

namespace detail {
// By handle, with open addressing. What follows a key's home up to the first null key may hold it.
struct InterfacePlace {
  std::atomic<uct_iface_h> key;   // stays where other keys may lie behind it
  std::atomic<Interface*> value;  // nullptr: nothing is open there
};
inline constexpr std::size_t kPlaceBits = 14;
inline constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
UCTRACE_OWN extern constinit InterfacePlace interface_places[kPlaces];

inline std::size_t home_of(const void* handle) {
  return (reinterpret_cast<std::uintptr_t>(handle) >> 6) * 0x9E3779B97F4A7C15u >> (64 - kPlaceBits);
}

// What is in the place with this key; nullptr: no place has it, or nothing is open there.
inline Interface* entry_at(uct_iface_h handle) {
  for (std::size_t at = home_of(handle);; at = (at + 1) % kPlaces) {
    const InterfacePlace& place = interface_places[at];
    const uct_iface_h key = place.key.load(std::memory_order_acquire);
    if (key == handle) [[likely]] {
      return place.value.load(std::memory_order_acquire);
    }
    if (key == nullptr) {
      return nullptr;
    }
  }
}
}  // namespace detail

// The entry of an interface that was opened as a device; nullptr for any other, also if what was at
// this address is closed: its memory may hold an interface of UCP's own by now. Its place may have
// become that of another one since its key was read. Cost: 1 ns.
inline Interface* find_open_interface(uct_iface_h handle) {
  Interface* const entry = detail::entry_at(handle);
  return entry != nullptr && __atomic_load_n(&entry->handle, __ATOMIC_ACQUIRE) == handle ? entry
                                                                                         : nullptr;
}

// Open at a time; 1,400 bytes each, of memory once they are used.
inline constexpr std::size_t kMaxInterfaces = 4096;

// An entry of nobody's, with an id that was not used for the longest time; nullptr: all are taken.
Interface* take_entry();

// From here on hooks find it, by its handle. False: the table is too full; nothing was changed.
bool show(Interface& entry);

// They do not find it any more. It must be restored by then what leads to them.
void hide(Interface& entry);

// Once nothing of it can be called any more.
void give_back(Interface& entry);

}  // namespace uctrace::uct
