#include "ucp-shim/dispatch.hpp"

#include "ucp-shim/protocols.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

namespace {

// Calls the function, and looks only at what this call itself posts.
ucs_status_t run(uct_pending_req_t* request, uct_pending_callback_t function,
                 std::uint8_t protocol) {
  uct::ThreadState& state = uct::thread_state;
  const uct::ThreadState outer = state;
  state.protocol = protocol;
  state.posted = state.refused = false;
  const ucs_status_t status = function(request);
  // True if nothing was posted and no transport refused it: a refused request would be kept in a
  // queue that we see. UCS_INPROGRESS: UCP calls it again at once.
  const bool waits =
      !state.refused && (status == UCS_ERR_NO_RESOURCE || (status == UCS_OK && !state.posted));
  if (state.context.definite()) {
    if (waits) {
      uct::defer(request, state.context);
    } else if (status == UCS_OK) {
      uct::forget_deferred(request);
    }
  }
  state.protocol = outer.protocol;
  state.posted |= outer.posted;
  state.refused |= outer.refused;
  return status;
}

}  // namespace

ucs_status_t dispatch_as(uct_pending_req_t* request, uct_pending_callback_t function,
                         std::uint8_t protocol) {
  uct::Context context;
  if (!uct::thread_state.context.definite() && uct::find_deferred(request, context)) {
    const uct::ContextScope scope(context);
    return run(request, function, protocol);
  }
  return run(request, function, protocol);
}

ucs_status_t dispatch(uct_pending_req_t* request) {
  return dispatch_as(request, request->func, protocol_of(request->func));
}

}  // namespace uctrace::ucp
