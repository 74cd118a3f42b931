// Which layers the user wants (`record --layers`). Private to event-log/.
#pragma once

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// UCTRACE_LAYERS names the layers that record, as "uct,mpi": the page says `unwanted` of the
// others. Without the variable, or with an empty one, all record. Before the first record of a
// process.
void leave_out_unwanted_layers(ProcessPage& page);

}  // namespace uctrace::log
