#include "uct-shim/ucp_caller.hpp"

#include <dlfcn.h>

#include <atomic>

#include "event-log/recorder/recorder.hpp"
#include "interpose/original.hpp"
#include "interpose/scope.hpp"

namespace uctrace::uct {

bool is_libucp(const void* caller) {
  void* object = interpose::open_object_at(caller);
  if (object == nullptr) {
    return false;  // the program itself
  }
  const void* function = dlsym(object, "ucp_worker_create");
  dlclose(object);  // what the program unloads must go
  return function != nullptr && interpose::object_at(caller).holds(function);
}

void report_bypassed(const void* caller) {
  static constinit std::atomic<bool> reported{false};
  if (reported.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  log::fault(log::Layer::ucp, log::FaultCode::ucp_bypassed, 0, interpose::module_path(caller));
  // Another copy of UCX may be recorded all the same.
  if (log::layer_state(log::Layer::ucp) == log::LayerState::unused) {
    log::set_layer(log::Layer::ucp, log::LayerState::off);
  }
}

}  // namespace uctrace::uct
