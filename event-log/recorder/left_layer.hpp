// A layer that is off stays off (recorder.hpp), unless it is off for only one of several libraries.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

// Switches off a layer that was not used so far, because one of its libraries is left alone. A
// recorded library switches it on again.
void leave_layer(Layer layer);

// True if the layer is off for another reason, or unwanted.
bool is_off_for_good(Layer layer);

}  // namespace uctrace::log
