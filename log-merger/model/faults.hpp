// The consequences of a fault for the content of its log.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace {

// It causes no missing event and no layer off.
constexpr bool loses_nothing(log::FaultCode code) {
  return code == log::FaultCode::signal_taken || code == log::FaultCode::unknown_condition ||
         code == log::FaultCode::clock_not_measured || code == log::FaultCode::gpu_query_failed ||
         code == log::FaultCode::gpu_events_refused ||
         code == log::FaultCode::gpu_history_refused ||
         code == log::FaultCode::topology_not_taken || code == log::FaultCode::counters_not_kept ||
         code == log::FaultCode::profile_not_written;
}

// True if a library was, or may have been, used without being (completely) in the log.
constexpr bool misses_library(log::FaultCode code) {
  return code == log::FaultCode::mpi_bypassed || code == log::FaultCode::ucp_bypassed ||
         code == log::FaultCode::uct_bypassed || code == log::FaultCode::unknown_ucx_version;
}

}  // namespace uctrace
