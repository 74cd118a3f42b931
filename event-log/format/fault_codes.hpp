// What went wrong while a log was recorded, or what the recorder could not do. Values are part of
// the format: never renumber, only append (docs/log-format.md).
#pragma once

#include <cstdint>

namespace uctrace::log {

enum class FaultCode : std::uint16_t {
  none = 0,
  unknown_ucx_version = 1,
  self_check_failed = 2,
  symbol_missing = 3,
  out_of_interfaces = 4,
  unknown_mpi_library = 5,
  request_field_unknown = 6,  // `value` has the unknown bits; those operations have no end
  out_of_handlers = 7,  // `value` = how many there is room for; arrivals of others are not seen
  left_out = 8,         // UCTRACE_LEAVE_OUT: the detail names a hook; `value` 0 = there is none
  other_ucx_loaded =
      9,               // than `record --ucx` asked for; the detail is its path, `value` 1: rebuilt
  unknown_patch = 10,  // a UCX built with patches/ of another uctrace; `value` = its uct_tool_abi
  several_ucx = 11,    // the detail is a function; it is not clear which UCX's is meant
  // UCP calls bypassed the shims; the detail is the path of its library. `value` 1: the library is
  // bound to bypass them, and whether it was used is not known.
  ucp_bypassed = 12,
  signal_taken = 13,         // `value` is a signal that should switch recording: the program has it
  unknown_condition = 14,    // to start or stop recording; the detail is it
  clock_not_measured = 15,   // against those of other hosts; the detail says why
  gpu_driver_unusable = 16,  // the detail is a function that the driver of GPUs lacks
  gpu_query_failed = 17,     // the driver could not identify memory; `value` is its error
  gpu_events_refused = 18,   // UCX does not report GPU memory; `value` is its status
  // Allocations of a GPU's driver are not reported; the detail says why. `value` 1: they are, but
  // not all of them are kept.
  gpu_history_refused = 19,
  topology_not_taken = 20,  // of the node; `value` is an errno, or what its program returned
  mpi_bypassed = 21,       // MPI calls bypassed the wrappers; the detail is the path of its library
  uct_bypassed = 22,       // UCT calls bypassed the shims, not from UCP; the rest as ucp_bypassed
  counters_not_kept = 23,  // `record --counters` was asked for: `value` is an errno
  // The profile that MPI_Finalize should write because the program requested it through MPI_T:
  // `value` is an errno, and the detail its name without .RANK.prof.
  profile_not_written = 24,
  kCount
};

}  // namespace uctrace::log
