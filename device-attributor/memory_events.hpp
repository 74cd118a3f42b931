// What UCX's memory hooks tell of memory that is no host's: when it was allocated and freed, not on
// which device. They are UCX's own business: nothing is hooked on our behalf, and what comes before
// UCX installs them is not told.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

enum class Events : std::uint8_t { watched, missing, refused };

// From now on `attributor` is told of all that UCX is told. `set_handler` is ucm_set_event_handler
// of the UCX in use, nullptr where it has none. Once for each libucm: the handler stays there for
// good. `*status` is UCX's answer, where it is asked.
Events watch_memory_events(void* set_handler, Attributor& attributor, int* status = nullptr);

}  // namespace uctrace::gpu
