// Tag offload, the receiving side: messages that matched no posted receive of the interface. UCT
// passes them to callbacks set when the interface is opened; ours wrap these.
#pragma once

#include <uct/api/uct.h>

#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

// The callbacks of the layer above; in use from before the interface is opened until it is closed.
struct UnexpectedTags {
  uct_tag_unexp_eager_cb_t eager;
  void* eager_argument;
  uct_tag_unexp_rndv_cb_t rendezvous;
  void* rendezvous_argument;
  const Interface* interface;  // nullptr: not hooked, or not yet
  bool in_use;
};

// Copies `params` to `own` with our callbacks. nullptr: it has none of these callbacks, or there is
// no room; pass `params` down unchanged.
UnexpectedTags* stand_in(const uct_iface_params_t& params, uct_iface_params_t& own);
void release(UnexpectedTags* tags);

}  // namespace uctrace::uct
