// Notices a UCX that works and of which nothing comes by here: where a plug-in is opened with
// RTLD_DEEPBIND, what it brings along is bound to itself.
#include <link.h>
#include <string.h>

#include <atomic>

#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/objects.hpp"
#include "uct-shim/ucp_caller.hpp"

namespace uctrace::uct {
namespace {

using interpose::Object;

// Calls visit(object) for each that is loaded until one returns true.
template <typename Visit>
bool any_loaded(Visit visit) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* data) {
               const Object object(*info);
               return object && (*static_cast<Visit*>(data))(object) ? 1 : 0;
             },
             &visit) != 0;
}

// A look at everything is worth it only then. Two loads and a call of the loader's.
bool anything_came() {
  static constinit std::atomic<unsigned long long> before{0};
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* loads) {
        *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return before.exchange(loads) != loads;
}

// A UCX loads the modules of its transports when it is used, and not before.
bool is_at_work(const Object& libuct) {
  return any_loaded([&](const Object& module) {
    bool needs_it = false;
    module.for_each_needed(
        [&](const char* name) { needs_it = needs_it || strcmp(name, libuct.soname()) == 0; });
    return needs_it && strncmp(module.soname(), "libuct_", 7) == 0;
  });
}

bool is_bypassed(const Object& libucp) {
  const void* to = libucp.leads_to("uct_iface_open");
  const Object libuct = to != nullptr ? interpose::object_of(to) : Object();
  return libuct && !libuct.is_own() && !(libuct == libucp) && is_at_work(libuct);
}

void look() {
  const void* found = nullptr;
  if (!anything_came() || !any_loaded([&](const Object& object) {
        const void* function = object.is_own() ? nullptr : object.find("ucp_worker_create");
        found = function != nullptr && is_bypassed(object) ? function : nullptr;
        return found != nullptr;
      })) {
    return;
  }
  report_bypassed(log::Layer::uct, found);
  report_bypassed(log::Layer::ucp, found);
}

__attribute__((constructor)) void watch() { log::add_last_look(look); }

}  // namespace
}  // namespace uctrace::uct
