#include "log-merger/audit/delivered.hpp"

namespace uctrace::merge {

bool delivered(const Job& job, const Message& message, const UcpOp& send) {
  if (send.is_one_sided()) {
    return send.match == Match::exact && message.t_end_ns >= 0 &&
           job.run.texts[message.status] == "UCS_OK";
  }
  return send.partner != kNone && job.ucp[send.partner].end_status == 0 &&
         message.match != Match::unmatched && message.match != Match::outside_window;
}

}  // namespace uctrace::merge
