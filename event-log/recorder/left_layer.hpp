// Off is final for a layer (recorder.hpp), but where it is off for one of several libraries only.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

// Switches off a layer that was not used so far, as a library of it is left alone: another one that
// is recorded switches it on again.
void leave_layer(Layer layer);

// True of a layer that is off for another reason, or unwanted.
bool is_off_for_good(Layer layer);

}  // namespace uctrace::log
