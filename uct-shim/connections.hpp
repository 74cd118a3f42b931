// Client-server connections: what a connection manager (uct_cm) tells once one is established.
#pragma once

#include <uct/api/uct.h>

namespace uctrace::uct {

// What uct_ep_create is given for an endpoint of a connection manager: the caller's parameters with
// a callback of ours in front of the one that is told of the connection. Others are handed down as
// they are.
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
