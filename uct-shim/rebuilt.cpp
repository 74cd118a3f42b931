#include "uct-shim/rebuilt.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <atomic>

#include "event-log/format/ucx_functions.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/objects.hpp"
#include "interpose/original.hpp"
#include "interpose/patched.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

using log::FaultCode;
using log::Layer;

constexpr unsigned kToolAbi = 1;  // uct_tool_abi of the patches that we know

// For a slot of our table without a hook: calls the interface's own operation.
template <auto slot>
struct PassOn;
template <typename Result, typename... Arguments,
          Result (*uct_iface_ops_t::*slot)(uct_ep_h, Arguments...)>
struct PassOn<slot> {
  static Result call(uct_ep_h ep, Arguments... arguments) {
    return (ep->iface->ops.*slot)(ep, arguments...);
  }
};
template <typename Result, typename... Arguments,
          Result (*uct_iface_ops_t::*slot)(uct_iface_h, Arguments...)>
struct PassOn<slot> {
  static Result call(uct_iface_h iface, Arguments... arguments) {
    return (iface->ops.*slot)(iface, arguments...);
  }
};

// The operations that a patched UCX calls through the table.
void make_table(uct_iface_ops_t& table) {
#define UCTRACE_PASS_ON(slot, hook) table.slot = PassOn<&uct_iface_ops_t::slot>::call;
  UCTRACE_UCT_SLOTS(UCTRACE_PASS_ON)
#undef UCTRACE_PASS_ON
  swap_operations(table);
}

constinit uct_iface_ops_t tool_table{};

// The library is never unloaded (it is linked so), so the table stays valid.
const uct_iface_ops_t* the_tool_table() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { make_table(tool_table); });
  return &tool_table;
}

bool is_same_file(const char* a, const char* b) {
  struct stat one, other;
  return strcmp(a, b) == 0 || (stat(a, &one) == 0 && stat(b, &other) == 0 &&
                               one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

// True once for each libuct and log: a fork child has its own log.
bool is_new(const void* iface_open) {
  struct Noted {
    const void* iface_open;
    std::uint32_t log;
  };
  static constinit Noted noted[8]{};
  static constinit std::uint32_t next = 0;
  static constinit interpose::ForkLock busy;  // for a few loads and stores
  const std::uint32_t log = log::log_number();
  const interpose::Held held(busy);
  bool fresh = true;
  for (const Noted& known : noted) {
    fresh = fresh && !(known.iface_open == iface_open && known.log == log);
  }
  if (fresh) {
    noted[next++ % 8] = {iface_open, log};
  }
  return fresh;
}

void note_library(const void* iface_open, bool rebuilt) {
  const char* path = interpose::module_path(iface_open);
  log::define_text(log::TextKind::uct_library, rebuilt, path, strlen(path));
  const char* wanted = getenv("UCTRACE_UCX");
  if (wanted != nullptr && *wanted != '\0' && !is_same_file(path, wanted)) {
    log::fault(Layer::uct, FaultCode::other_ucx_loaded, rebuilt, path);
  }
  if (const char* function = interpose::undecided()) {
    log::fault(Layer::uct, FaultCode::several_ucx, 0, function);
  }
}

}  // namespace

bool attach(const void* iface_open) {
  const interpose::Object libuct = interpose::object_of(iface_open);
  const auto* abi = static_cast<const unsigned*>(libuct ? libuct.find("uct_tool_abi") : nullptr);
  using Attach = void (*)(const uct_iface_ops_t*);
  const auto attach_to =
      reinterpret_cast<Attach>(abi != nullptr ? libuct.find("uct_tool_attach") : nullptr);
  const bool agreed = attach_to != nullptr && *abi == kToolAbi;
  if (abi != nullptr && !agreed && is_new(abi)) {
    log::fault(Layer::uct, FaultCode::unknown_patch, static_cast<std::int32_t>(*abi),
               interpose::module_path(iface_open));
  }
  if (agreed) {
    attach_to(the_tool_table());
  }
  if (is_new(iface_open)) {
    note_library(iface_open, agreed);
  }
  return agreed;
}

HookedSlots slots_of_tool(const uct_iface_ops_t& offered) {
  the_tool_table();
  HookedSlots slots = hooked_slots(offered, tool_table);
  slots.hooked &= slots.offered;  // the table has all
  return slots;
}

bool attach_dispatch(const void* ucp_function, ucs_status_t (*dispatch)(uct_pending_req_t*)) {
  using Dispatch = ucs_status_t (*)(uct_pending_req_t*);
  const interpose::Object libucp = interpose::object_of(ucp_function);
  auto* place = static_cast<Dispatch*>(libucp ? libucp.find("ucp_tool_dispatch") : nullptr);
  if (place != nullptr) {
    __atomic_store_n(place, dispatch, __ATOMIC_RELEASE);
  }
  return place != nullptr;
}

}  // namespace uctrace::uct
