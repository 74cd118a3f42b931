// The protocols of UCX (protocols v2), as libucp's table ucp_protocols[] has them:
// each has a name and up to eight functions that post for a request, one a stage.
#pragma once

#include <uct/api/uct.h>

#include <cstdint>

#include "ucx-facts/releases.hpp"

namespace uctrace::ucp {

// Reads the table of the libucp that holds `function`, and names its protocols in the log. Puts a
// thunk of ours in front of each of their functions, unless that libucp itself `dispatches` its
// requests through us. Call it before a worker of that libucp exists; a second call does no harm. A
// table that is not as expected is left alone, and a fault says so.
void use_protocols(const void* function, const ucx::Release& release, bool dispatches);

// The number of the protocol to which this function belongs; 0: to none, or to several.
std::uint8_t protocol_of(uct_pending_callback_t function);

}  // namespace uctrace::ucp
