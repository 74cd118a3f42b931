// The entries of open interfaces, by handle. Opening and closing take a lock, finding takes none.
// Entries and ids of closed interfaces are reused: a service may open any number.
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

// The active message handler that ours replaced.
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
  bool swapped;              // its table has our hooks; else its UCX calls them itself
  bool in_memory;            // short operations are a few stores to shared memory
  bool by_system;  // it sends by system calls (tcp): only memory that the processor can read
  bool copies;     // copies within this process, to or from an accelerator: both addresses are
                   // local
  std::uint16_t device_address_bytes, interface_address_bytes, endpoint_address_bytes;
  AmHandler handlers[wire::kAmIds];
};

namespace detail {
// By handle, with open addressing. A key is between its home and the next null key.
struct InterfacePlace {
  std::atomic<uct_iface_h> key;   // stays while other keys may follow it
  std::atomic<Interface*> value;  // nullptr: nothing is open there
};
inline constexpr std::size_t kPlaceBits = 14;
inline constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
UCTRACE_OWN extern constinit InterfacePlace interface_places[kPlaces];

inline std::size_t home_of(const void* handle) {
  return (reinterpret_cast<std::uintptr_t>(handle) >> 6) * 0x9E3779B97F4A7C15u >> (64 - kPlaceBits);
}

// The value at this key; nullptr: no place has the key, or nothing is open there.
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

// The entry of an interface that was opened as a device; nullptr for any other. Also nullptr if the
// interface at this address was closed: the memory may now hold one of UCP's own. The place may get
// another key after its key was read, so the entry's handle is checked. Cost: 1 ns.
inline Interface* find_open_interface(uct_iface_h handle) {
  Interface* const entry = detail::entry_at(handle);
  return entry != nullptr && __atomic_load_n(&entry->handle, __ATOMIC_ACQUIRE) == handle ? entry
                                                                                         : nullptr;
}

// Open at the same time; each takes 1,400 bytes of memory once used.
inline constexpr std::size_t kMaxInterfaces = 4096;

// A free entry, with the id that was unused for the longest time; nullptr: all are taken.
Interface* take_entry();

// From now on hooks find it by its handle. False: the table is too full; nothing was changed.
bool show(Interface& entry);

// Hooks no longer find it. Everything that leads to the hooks must be restored before.
void hide(Interface& entry);

// Call it once no function of the interface can be called any more.
void give_back(Interface& entry);

}  // namespace uctrace::uct
