#include "uct-shim/left_out_operations.hpp"

namespace uctrace::uct {

// If the lane has followed a switch meanwhile, recording counts already: then the operation stays
// counted as complete, outside of the window. Nor is it taken back
// from another lane: a handler inside the call may have forked, and the child has its own log.
void correct_left_out(log::Lane& lane, ucs_status_t status) {
  if (log::lane_that_stays_off() != &lane) return;
  log::LiveCounters& counters = lane.counters();
  if (status == UCS_INPROGRESS) {
    ++counters.uct_inprogress;
    ++counters.uct_without_handle;
    return;
  }
  counters.uct_posted_ok -= 1;
  ++(status == UCS_ERR_NO_RESOURCE ? counters.uct_no_resource : counters.uct_errors);
}

}  // namespace uctrace::uct
