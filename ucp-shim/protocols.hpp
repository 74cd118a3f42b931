// The protocols of UCX (protocols v2), as libucp's table ucp_protocols[] has them:
// each has a name and up to eight functions that post for a request, one a stage.
#pragma once

#include <uct/api/uct.h>

#include <cstdint>

#include "ucx-facts/releases.hpp"

namespace uctrace::ucp {

// Reads the table of the libucp that holds `function`, names its protocols in the log and, unless
// that libucp `dispatches` its requests through us itself, puts a thunk of ours in front of each of
// their functions. Before a worker of it exists; once more does no harm. A table that is not as
// expected is left alone, and a fault says so.
void use_protocols(const void* function, const ucx::Release& release, bool dispatches);

// The number of the protocol to which this function belongs; 0: to none, or to several.
std::uint8_t protocol_of(uct_pending_callback_t function);

}  // namespace uctrace::ucp
