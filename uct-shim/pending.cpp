#include "uct-shim/pending.hpp"

#include "event-log/address_map.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

// A request that finds no place is queued without a context, which later shows as an operation that
// is joined by content or counted as unattributed; nothing is lost.
struct Queued {
  uct_pending_callback_t callback;
  log::Id origin;
  log::Origin kind;
};
constinit log::AddressMap<Queued, 1 << 16> queued;

ucs_status_t dispatch(uct_pending_req_t* request);

void put_in_between(uct_pending_req_t* request, const Context& context) {
  if (auto* entry = queued.claim(request)) {
    entry->value = {request->func, context.origin, context.kind};
    request->func = dispatch;
  }
}

// Takes our callback out again, so that the request is seen and compared as its owner made it.
void take_out(uct_pending_req_t* request, Context* context) {
  auto* entry = request->func == dispatch ? queued.find(request) : nullptr;
  if (entry == nullptr) {
    return;
  }
  request->func = entry->value.callback;
  *context = {entry->value.origin, entry->value.kind, log::Route::pending};
  queued.free(entry);
}

// UCS_OK: the request left the queue and may be gone or queued anew. Anything else: it stays where
// it is, and comes back here.
ucs_status_t dispatch(uct_pending_req_t* request) {
  Context context{};
  take_out(request, &context);
  const ContextScope scope(context);
  const ucs_status_t status = request->func(request);
  if (status != UCS_OK) {
    put_in_between(request, context);
  }
  return status;
}

struct Purge {
  uct_pending_purge_callback_t callback;
  void* argument;
};

void purge_one(uct_pending_req_t* request, void* argument) {
  const auto* purge = static_cast<const Purge*>(argument);
  Context context{};
  take_out(request, &context);
  const ContextScope scope(context);
  purge->callback(request, purge->argument);
}

}  // namespace

ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t* request, unsigned flags) {
  const uct_iface_ops_t& original = find_interface(ep->iface)->original;
  // Before it is queued: another thread may dispatch it at once.
  put_in_between(request, thread_state.context);
  const ucs_status_t status = original.ep_pending_add(ep, request, flags);
  if (status != UCS_OK) {
    Context unused{};
    take_out(request, &unused);
  }
  return status;
}

void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback, void* argument) {
  Purge purge{callback, argument};
  find_interface(ep->iface)->original.ep_pending_purge(ep, purge_one, &purge);
}

}  // namespace uctrace::uct
