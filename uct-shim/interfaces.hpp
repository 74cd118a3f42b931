// The interfaces that were opened, and the operations behind our hooks.
#pragma once

#include <uct/api/uct.h>

#include <cstddef>
#include <cstdint>

#include "uct-shim/interface_table.hpp"

namespace uctrace::uct {

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

}  // namespace uctrace::uct
