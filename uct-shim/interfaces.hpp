// The interfaces that were opened, and the operations behind our hooks.
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
  std::uint16_t id;          // in the log; never reused
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
// By handle, with open addressing. A place keeps its key: handles are used again.
struct InterfacePlace {
  std::atomic<uct_iface_h> key;
  std::atomic<Interface*> value;
};
inline constexpr std::size_t kPlaceBits = 14;
inline constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;  // at most a quarter full
UCTRACE_OWN extern constinit InterfacePlace interface_places[kPlaces];

inline std::size_t home_of(const void* handle) {
  return (reinterpret_cast<std::uintptr_t>(handle) >> 6) * 0x9E3779B97F4A7C15u >> (64 - kPlaceBits);
}
}  // namespace detail

// The entry of what is, or once was, at this address; nullptr if nothing was.
inline Interface* find_interface(uct_iface_h handle) {
  for (std::size_t at = detail::home_of(handle);; at = (at + 1) % detail::kPlaces) {
    const detail::InterfacePlace& place = detail::interface_places[at];
    const uct_iface_h key = place.key.load(std::memory_order_acquire);
    if (key == handle) [[likely]] {
      return place.value.load(std::memory_order_acquire);
    }
    if (key == nullptr) {
      return nullptr;
    }
  }
}

// The entry of an interface that was opened as a device; nullptr for any other, also if what was at
// this address is closed: its memory may hold an interface of UCP's own by now. Cost: 1 ns.
inline Interface* find_open_interface(uct_iface_h handle) {
  Interface* entry = find_interface(handle);
  return entry != nullptr && __atomic_load_n(&entry->handle, __ATOMIC_ACQUIRE) == handle ? entry
                                                                                         : nullptr;
}

// Puts our operations into `table`, only where it has one. Order of stores does not matter: the
// entry is findable before the first is done.
void swap_operations(uct_iface_ops_t& table);

// Bits of log::UctHook: slots that a table had, and those of them that hold our hook now.
struct HookedSlots {
  std::uint64_t offered, hooked;
};
HookedSlots hooked_slots(const uct_iface_ops_t& offered, uct_iface_ops_t& table);
bool is_slot_name(const char* name, std::size_t length);

// Once for the process: a fault for each hook that the user leaves out.
void report_left_out();

// Opens the log. False: recording is off, or the user wants no records of UCT.
bool layer_wanted();

// Set by ucp-shim around ucp_worker_create: interfaces opened now belong to this worker.
extern thread_local constinit bool opening_for_ucp __attribute__((tls_model("initial-exec")));

// True if this process's UCX may be hooked at all: a tested version, or none to ask (UCT alone).
// Decided once; records a fault and switches UCT and UCP off otherwise.
bool ucx_supported(const void* caller);

}  // namespace uctrace::uct
