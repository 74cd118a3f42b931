#include "uct-shim/pending.hpp"

#include "event-log/recorder/address_map.hpp"
#include "event-log/recorder/recorder.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/deferred.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

// A request that finds no place is queued without a context. Its operation is then joined by
// content or counted as unattributed; nothing is lost.
struct Queued {
  uct_pending_callback_t callback;
  Context context;
  std::uint16_t interface;
  uct_ep_h endpoint;
};
constinit log::AddressMap<Queued, 1 << 16> queued;

ucs_status_t dispatch(uct_pending_req_t* request);

void record(log::PendingEvent event, const uct_pending_req_t* request, const Queued& what) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::uct);
    return;
  }
  ++(event == log::PendingEvent::added ? lane->counters().uct_pending_added
                                       : lane->counters().uct_pending_left);
  if (auto* r = lane->reserve<log::UctPending>(log::DropKind::uct)) {
    r->tick = log::now();
    r->endpoint = reinterpret_cast<std::uint64_t>(what.endpoint);
    r->request = reinterpret_cast<std::uint64_t>(request);
    log::publish(r, log::RecordType::uct_pending, sizeof *r / 8, what.interface,
                 static_cast<std::uint32_t>(event));
  }
}

bool put_in_between(uct_pending_req_t* request, const Queued& what) {
  auto* entry = queued.claim(request);
  if (entry == nullptr) {
    return false;
  }
  // It already has our callback if a transport queues through its own table.
  const auto callback = request->func == dispatch ? entry->value.callback : request->func;
  entry->value = what;
  entry->value.callback = callback;
  request->func = dispatch;
  return true;
}

// Restores the owner's callback: others must see and compare the request as its owner made it.
bool take_out(uct_pending_req_t* request, Queued& what) {
  auto* entry = request->func == dispatch ? queued.find(request) : nullptr;
  if (entry == nullptr) {
    return false;
  }
  what = entry->value;
  request->func = what.callback;
  queued.free(entry);
  return true;
}

// UCS_OK: the request left the queue and may be gone or queued again. Anything else: it stays in
// the queue and comes back here.
ucs_status_t dispatch(uct_pending_req_t* request) {
  Queued what{};
  take_out(request, what);
  const ContextScope scope(what.context.by_way_of(log::Route::pending));
  const ucs_status_t status = request->func(request);
  if (status == UCS_OK) {
    record(log::PendingEvent::dispatched, request, what);
  } else if (!put_in_between(request, what)) {
    record(log::PendingEvent::lost_sight, request, what);
  }
  return status;
}

struct Purge {
  uct_pending_purge_callback_t callback;
  void* argument;
};

void purge_one(uct_pending_req_t* request, void* argument) {
  const auto* purge = static_cast<const Purge*>(argument);
  Queued what{};
  if (take_out(request, what)) {
    record(log::PendingEvent::purged, request, what);
  }
  if (purge->callback == nullptr) {
    return;  // many transports only forget the request then
  }
  const Context context = what.context.by_way_of(log::Route::pending);
  if (!moves_requests(purge->callback)) {
    forget_all_deferred();  // an endpoint fails: UCP throws away what it queued itself, too
  } else if (context.definite()) {
    defer(request, context);
  }
  const ContextScope scope(context);
  purge->callback(request, purge->argument);
}

}  // namespace

ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t* request, unsigned flags) {
  const Interface* interface = find_open_interface(ep->iface);
  if (interface == nullptr) {  // one of UCP's own (post.hpp), which keeps the request
    if (thread_state.context.definite()) {
      defer(request, thread_state.context);
    }
    return ep->iface->ops.ep_pending_add(ep, request, flags);
  }
  Queued what{nullptr, thread_state.context, interface->id, ep};
  // UCP may queue a request after its dispatch has returned: its context is then found again.
  if (Context deferred; !what.context.definite() && find_deferred(request, deferred)) {
    what.context = deferred;
  }
  // Before it is queued: another thread may dispatch it at once.
  const bool watched = put_in_between(request, what);
  const ucs_status_t status = interface->original.ep_pending_add(ep, request, flags);
  if (status == UCS_OK && watched) {
    record(log::PendingEvent::added, request, what);
  } else if (log::Lane* lane = log::lane()) {
    ++(status == UCS_OK ? lane->counters().uct_pending_untracked
                        : lane->counters().uct_pending_refused);
  }
  if (status != UCS_OK && watched) {
    take_out(request, what);
  }
  return status;
}

void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback, void* argument) {
  const Interface* interface = find_open_interface(ep->iface);
  if (interface == nullptr) {
    return ep->iface->ops.ep_pending_purge(ep, callback, argument);
  }
  Purge purge{callback, argument};
  interface->original.ep_pending_purge(ep, purge_one, &purge);
}

}  // namespace uctrace::uct
