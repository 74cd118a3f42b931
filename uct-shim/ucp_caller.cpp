#include "uct-shim/ucp_caller.hpp"

#include <dlfcn.h>

#include "event-log/recorder/left_layer.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/scope.hpp"

namespace uctrace::uct {

bool is_libucp(const void* caller) {
  void* object = interpose::open_object_at(caller);
  if (object == nullptr) {
    return false;  // the program itself
  }
  const void* function = dlsym(object, "ucp_worker_create");
  dlclose(object);  // the program must be able to unload it
  return function != nullptr && interpose::object_at(caller).holds(function);
}

void report_bypassed(log::Layer layer, log::FaultCode code, Bypass how, const char* path) {
  if (!log::start() || log::layer_state(layer) == log::LayerState::unwanted) {
    return;
  }
  static constinit log::OncePerLog reported[log::kLayers];
  if (!reported[static_cast<std::size_t>(layer)].take()) {
    return;
  }
  log::fault(layer, code, how == Bypass::unclear ? 1 : 0, path);
  log::leave_layer(layer);  // another copy of UCX may still be recorded
}

}  // namespace uctrace::uct
