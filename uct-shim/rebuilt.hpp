// The second way in: a UCX built with patches/ calls the operations of every interface through one
// table, which is ours once we attach. The hooks are the same as for a stock UCX, where the
// interfaces' tables are swapped, but UCP's own interfaces are not changed.
#pragma once

#include <uct/api/uct.h>

#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

// Attaches to the libuct of this uct_iface_open, and records once which library it is and how it is
// recorded. True: its callers now reach our hooks. False: interfaces must be swapped, because it is
// stock or its tool interface is not known (a fault). May be called again.
bool attach(const void* iface_open);

// The hooks that an interface with these operations reaches through the table.
HookedSlots slots_of_tool(const uct_iface_ops_t& offered);

// Gives the libucp of this function our dispatch of requests (contract: patches/). False: it is
// stock.
bool attach_dispatch(const void* ucp_function, ucs_status_t (*dispatch)(uct_pending_req_t*));

}  // namespace uctrace::uct
