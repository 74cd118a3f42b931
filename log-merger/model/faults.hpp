// What a fault in a log means for what is in it.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace {

// No event is missing for it, and no layer is off.
constexpr bool loses_nothing(log::FaultCode code) {
  return code == log::FaultCode::signal_taken || code == log::FaultCode::unknown_condition ||
         code == log::FaultCode::clock_not_measured || code == log::FaultCode::gpu_query_failed ||
         code == log::FaultCode::gpu_events_refused ||
         code == log::FaultCode::gpu_history_refused || code == log::FaultCode::topology_not_taken;
}

}  // namespace uctrace
