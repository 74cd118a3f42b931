// The interfaces whose operation tables are swapped, and their originals.
#pragma once

#include <uct/api/uct.h>

#include "event-log/ucp_wire.hpp"

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
  std::uint16_t device_address_bytes, interface_address_bytes, endpoint_address_bytes;
  AmHandler handlers[wire::kAmIds];
};

// The entry of an interface whose table was swapped; nullptr for one that never was. For the hooks:
// what they are called with has a swapped table. Cost: 1-2 ns.
Interface* find_interface(uct_iface_h handle);

// The same for a handle that may be any: nullptr also if what was hooked at this address is closed,
// since its memory may hold an interface of UCP's own by now.
Interface* find_open_interface(uct_iface_h handle);

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

// Set by ucp-shim around ucp_worker_create: interfaces opened now belong to this worker.
extern thread_local constinit bool opening_for_ucp __attribute__((tls_model("initial-exec")));

// True if this process's UCX may be hooked at all: a tested version, or none to ask (UCT alone).
// Decided once; records a fault and switches UCT and UCP off otherwise.
bool ucx_supported(const void* caller);

}  // namespace uctrace::uct
