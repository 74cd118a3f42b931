// Whether UCP is calling UCT.
#pragma once

namespace uctrace::uct {

// True if the object that holds `caller` is a libucp: one that defines UCP's functions itself.
// About 20 us: for slow paths.
bool is_libucp(const void* caller);

// Says, once, that the libucp that holds `caller` is used past the shims.
void report_bypassed(const void* caller);

}  // namespace uctrace::uct
