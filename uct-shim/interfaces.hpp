// The opened interfaces, and the operations that our hooks wrap.
#pragma once

#include <uct/api/uct.h>

#include <cstddef>
#include <cstdint>

#include "uct-shim/interface_table.hpp"

namespace uctrace::uct {

// Puts our operations into `table` where it has operations. The order of stores does not matter:
// the entry can be found before the first store.
void swap_operations(uct_iface_ops_t& table);

// Bits of log::UctHook: the slots that a table had, and those that now hold our hook.
struct HookedSlots {
  std::uint64_t offered, hooked;
};
HookedSlots hooked_slots(const uct_iface_ops_t& offered, uct_iface_ops_t& table);
bool is_slot_name(const char* name, std::size_t length);

// Once per process: records a fault for each hook that the user leaves out.
void report_left_out();

// Opens the log. False: recording is off, or the user wants no records of UCT.
bool layer_wanted();

// Set by ucp-shim around ucp_worker_create: interfaces opened now belong to this worker.
extern thread_local constinit bool opening_for_ucp __attribute__((tls_model("initial-exec")));

}  // namespace uctrace::uct
