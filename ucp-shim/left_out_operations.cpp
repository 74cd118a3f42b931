#include "ucp-shim/left_out_operations.hpp"

#include "ucp-shim/active_requests.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

// If the lane has followed a switch meanwhile, recording counts already: then the operation stays
// counted as accepted, outside of the window. Nor is it taken back
// from another lane: a callback inside the call may have forked, and the child has its own log.
ucs_status_ptr_t correct_left_out(const log::Lane& lane, log::UcpFamily family,
                                  ucs_status_ptr_t result) {
  if (UCS_PTR_IS_ERR(result)) {
    if (log::Lane* mine = log::lane_that_stays_off(); mine == &lane) {
      (mine->counters().*detail::kAccepted[static_cast<std::size_t>(family)]) -= 1;
    }
  } else if (result != nullptr) {
    // Its request may have the address of an earlier one whose end UCP never reported.
    forget_active(result);
    if (uct::any_deferred()) uct::forget_deferred(uct::request_of_handle(result));
  }
  return result;
}

}  // namespace uctrace::ucp
