// The second way in: a UCX that was built with patches/ calls the operations of every interface
// through one table, which is ours once we attached. Same hooks as where tables of interfaces are
// swapped (a stock UCX), but in front of UCP's interfaces nothing is changed.
#pragma once

#include <uct/api/uct.h>

#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

// Attaches to the libuct that has this uct_iface_open, and notes once which library it is and how
// it is recorded. True: its own callers reach our hooks now; false: interfaces must be swapped,
// since it is a stock one or one whose agreement is not known (a fault). Once more does no harm.
bool attach(const void* iface_open);

// What of an interface with these operations reaches our hooks through the table.
HookedSlots slots_of_tool(const uct_iface_ops_t& offered);

// Gives the libucp that has this function our dispatch of requests (contract: patches/). False: it
// is a stock one.
bool attach_dispatch(const void* ucp_function, ucs_status_t (*dispatch)(uct_pending_req_t*));

}  // namespace uctrace::uct
