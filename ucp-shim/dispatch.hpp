// Where UCP starts a request, or starts it again: the moment that tells for whom it posts.
//
// Called on a patched UCX for every request (through its ucp_tool_dispatch), on a stock one for
// those of protocols v2 (by the thunks of protocols.cpp). A request that is started on somebody's
// behalf and posts nothing waits inside UCP: its context is kept (uct-shim/deferred.hpp), and is
// that of its next start from progress. Cost: 2 ns for a request that posts at once.
#pragma once

#include <uct/api/uct.h>

#include <cstdint>

namespace uctrace::ucp {

// Calls request->func(request). The protocol's name is looked up by that function.
ucs_status_t dispatch(uct_pending_req_t* request);

// The same for a known function and protocol (TextKind::ucx_protocol; 0 = not known).
ucs_status_t dispatch_as(uct_pending_req_t* request, uct_pending_callback_t function,
                         std::uint8_t protocol);

}  // namespace uctrace::ucp
