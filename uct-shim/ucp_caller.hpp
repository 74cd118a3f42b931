// Whether UCP is calling UCT.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace::uct {

// True if the object that holds `caller` is a libucp: one that defines UCP's functions itself.
// About 20 us: for slow paths.
bool is_libucp(const void* caller);

// Says, once for a layer that is wanted, that the libucp that holds this address is used past the
// shims.
void report_bypassed(log::Layer layer, const void* in_libucp);

}  // namespace uctrace::uct
