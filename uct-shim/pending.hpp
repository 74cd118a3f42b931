// Pending requests: UCT queues an operation that found no resources and tries it again later, from
// progress. Our callback restores the request's context for that moment.
#pragma once

#include <uct/api/uct.h>

namespace uctrace::uct {

ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t* request, unsigned flags);
void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback, void* argument);

}  // namespace uctrace::uct
