// The history of allocations, as whoever sees them tells it (history.h). Private to this room.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

// This process's.
extern constinit Attributor attributor;

// Whether the log has the driver by now: then what is allocated is defined as it is told.
bool is_driver_in_log();

// Tells the log, once it has the driver, of all that was told before: who tells, or why nobody
// does, and what is allocated.
void define_history();

// Not all that is allocated, or not all that ends, is known: there was no room for it.
void note_incomplete_history();

// Once the vendor's driver is initialised it would have loaded what was to tell.
void note_missing_history(const Vendor& vendor);

}  // namespace uctrace::gpu
