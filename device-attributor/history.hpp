// The history of allocations, reported by a library that sees them (history.h). Private to this
// room.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

// This process's.
extern constinit Attributor attributor;

// Whether the log has the driver yet: from then on allocations are defined when reported.
bool is_driver_in_log();

// Once the log has the driver, records all earlier reports: who reports, or why nobody does, and
// the live allocations.
void define_history();

// Some allocations or frees are not known: there was no room for them.
void note_incomplete_history();

// Once the driver is initialised: by then it would have loaded the reporting library.
void note_missing_history(const Vendor& vendor);

}  // namespace uctrace::gpu
