// Reports from UCX's memory hooks about memory other than the host's: when it was allocated and
// freed, not on which device. UCX alone decides about the hooks: nothing is hooked on our behalf,
// and earlier events are not reported.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

enum class Events : std::uint8_t { watched, missing, refused };

// From now on `attributor` hears of all events that UCX hears of. `set_handler` is
// ucm_set_event_handler of the UCX in use, nullptr if it has none. Call it once for each libucm:
// the handler stays for good. `*status` is UCX's answer, if it is asked.
Events watch_memory_events(void* set_handler, Attributor& attributor, int* status = nullptr);

}  // namespace uctrace::gpu
