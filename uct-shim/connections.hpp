// Client-server connections: what a connection manager (uct_cm) tells once a connection is
// established.
#pragma once

#include <uct/api/uct.h>

namespace uctrace::uct {

// The parameters of uct_ep_create for an endpoint of a connection manager: the caller's, but our
// callback wraps the one that is told of the connection. Other parameters are passed on unchanged.
//
// That callback is the moment to ask for the socket addresses: they are known then, on both sides
// and with every connection manager, and the caller cannot have ended the endpoint yet.
class ConnectionParameters {
 public:
  ConnectionParameters(const uct_ep_params_t* callers, const void* caller);

  const uct_ep_params_t* handed() const { return wrapped_ ? &own_ : callers_; }

 private:
  const uct_ep_params_t* callers_;
  bool wrapped_ = false;
  uct_ep_params_t own_;  // valid if wrapped
};

}  // namespace uctrace::uct
