// Which layers the user wants (`record --layers`). Private to event-log/.
#pragma once

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// UCTRACE_LAYERS names the layers that record, as "uct,mpi"; the page marks the others as
// `unwanted`. If the variable is missing or empty, all record. Call it before the first record of a
// process.
void leave_out_unwanted_layers(ProcessPage& page);

}  // namespace uctrace::log
