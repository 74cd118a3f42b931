// Where UCP starts a request, or starts it again: at this moment we learn for which operation it
// posts.
//
// On a patched UCX this is called for every request (through its ucp_tool_dispatch), on a stock one
// for those of protocols v2 (by the thunks of protocols.cpp). A request that is started for a known
// operation and posts nothing waits inside UCP. Its context is kept (uct-shim/deferred.hpp), and
// its next start from progress gets it. Cost: 2 ns for a request that posts at once.
#pragma once

#include <uct/api/uct.h>

#include <cstdint>

namespace uctrace::ucp {

// Calls request->func(request), and looks up the protocol by that function.
ucs_status_t dispatch(uct_pending_req_t* request);

// The same for a known function and protocol (TextKind::ucx_protocol; 0 = not known).
ucs_status_t dispatch_as(uct_pending_req_t* request, uct_pending_callback_t function,
                         std::uint8_t protocol);

}  // namespace uctrace::ucp
