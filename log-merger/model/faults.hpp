// What a fault in a log means for what is in it.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace {

// No event is missing for it, and no layer is off.
constexpr bool loses_nothing(log::FaultCode code) {
  return code == log::FaultCode::signal_taken || code == log::FaultCode::unknown_condition ||
         code == log::FaultCode::clock_not_measured || code == log::FaultCode::gpu_query_failed ||
         code == log::FaultCode::gpu_events_refused ||
         code == log::FaultCode::gpu_history_refused ||
         code == log::FaultCode::topology_not_taken || code == log::FaultCode::counters_not_kept ||
         code == log::FaultCode::profile_not_written;
}

// True of those that tell of a library that was used, or may have been, and of which nothing, or
// not all, is in the log.
constexpr bool misses_library(log::FaultCode code) {
  return code == log::FaultCode::mpi_bypassed || code == log::FaultCode::ucp_bypassed ||
         code == log::FaultCode::uct_bypassed || code == log::FaultCode::unknown_ucx_version;
}

}  // namespace uctrace
