// An endpoint: its connection, its queue of pending requests, its failure, and how a call runs.
#include <errno.h>
#include <signal.h>

#include <cstring>

#include "transport.hpp"

namespace scripted {

namespace {

std::uint64_t endpoints_made = 0;

ucs_status_t create(const uct_ep_params_t* params, uct_ep_h* ep) {
  Interface& interface = interface_of(params->iface);
  auto endpoint = std::make_unique<Endpoint>();
  endpoint->iface = params->iface;
  endpoint->serial = __atomic_add_fetch(&endpoints_made, 1, __ATOMIC_RELAXED);
  if ((params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR) != 0 &&
      !interface.flavour->to_endpoint) {
    InboxAddress address;
    std::memcpy(&address, params->iface_addr, sizeof address);
    const ucs_status_t status = endpoint->connect(address);
    if (status != UCS_OK) return status;
  }
  interface.endpoints.push_back(endpoint.get());
  *ep = endpoint.release();
  return UCS_OK;
}

// Outstanding operations of a destroyed endpoint are never reported.
void destroy(uct_ep_h ep) {
  Endpoint& endpoint = endpoint_of(ep);
  Interface& interface = endpoint.interface();
  interface.endpoints.remove(&endpoint);
  std::erase_if(interface.late, [&](const Late& one) { return one.endpoint == &endpoint; });
  std::erase_if(interface.rendezvous,
                [&](const OpenRendezvous& one) { return one.endpoint == &endpoint; });
  delete &endpoint;
}

ucs_status_t get_address(uct_ep_h ep, uct_ep_addr_t* address) {
  const Endpoint& endpoint = endpoint_of(ep);
  const EndpointAddress own{endpoint.interface().inbox->address(), endpoint.serial};
  std::memcpy(address, &own, sizeof own);
  return UCS_OK;
}

ucs_status_t connect_to_endpoint(uct_ep_h ep, const uct_device_addr_t*,
                                 const uct_ep_addr_t* address) {
  EndpointAddress peer;
  std::memcpy(&peer, address, sizeof peer);
  endpoint_of(ep).peer_serial = peer.serial;
  return endpoint_of(ep).connect(peer.inbox);
}

bool is_blocked(const Endpoint& endpoint) {
  const Interface& interface = endpoint.interface();
  return endpoint.inbox == nullptr || interface.progressed < endpoint.usable_from ||
         interface.progressed < endpoint.blocked_until ||
         (!endpoint.pending.empty() && interface.dispatching != &endpoint);
}

// If the operation would succeed now, it is not queued: the caller tries again.
ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t* request, unsigned) {
  Endpoint& endpoint = endpoint_of(ep);
  oracle::Row row = endpoint.interface().row("pending_add");
  row.endpoint = ep;
  row.status = endpoint.failure == UCS_OK && is_blocked(endpoint) ? UCS_OK : UCS_ERR_BUSY;
  oracle::note(row);
  if (row.status == UCS_OK) endpoint.pending.push_back(request);
  return row.status;
}

void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback, void* argument) {
  Endpoint& endpoint = endpoint_of(ep);
  while (!endpoint.pending.empty()) {
    uct_pending_req_t* request = endpoint.pending.front();
    endpoint.pending.pop_front();
    oracle::Row row = endpoint.interface().row("pending_purge");
    row.endpoint = ep;
    oracle::note(row);
    if (callback != nullptr) callback(request, argument);
  }
}

ucs_status_t flush(uct_ep_h ep, unsigned flags, uct_completion_t* completion) {
  Endpoint& endpoint = endpoint_of(ep);
  return endpoint.interface().flush(Operation::ep_flush, &endpoint,
                                    (flags & UCT_FLUSH_FLAG_CANCEL) != 0, completion);
}

ucs_status_t fence(uct_ep_h ep, unsigned) {
  Call call{.operation = Operation::ep_fence};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    endpoint.interface().fence(&endpoint);
    return UCS_OK;
  });
}

// Checks whether the peer's process exists; if not, the endpoint fails.
ucs_status_t check(uct_ep_h ep, unsigned, uct_completion_t*) {
  Endpoint& endpoint = endpoint_of(ep);
  Call call{.operation = Operation::ep_check};
  return post(endpoint, call, [&](std::uint64_t&) {
    if (kill(endpoint.peer.pid, 0) == 0 || errno != ESRCH) return UCS_OK;
    Interface& interface = endpoint.interface();
    const Verdict gone{.status = UCS_ERR_ENDPOINT_TIMEOUT, .progress = 1, .fails_endpoint = true};
    interface.late.push_back({++interface.posted,
                              &endpoint,
                              interface.progressed + 1,
                              false,
                              gone,
                              {},
                              nullptr,
                              oracle::note(interface.row("peer_gone"))});
    return UCS_OK;
  });
}

}  // namespace

void fill_endpoint_operations(uct_iface_ops_t& ops) {
  ops.ep_create = create;
  ops.ep_destroy = destroy;
  ops.ep_get_address = get_address;
  ops.ep_connect_to_ep = connect_to_endpoint;
  ops.ep_pending_add = pending_add;
  ops.ep_pending_purge = pending_purge;
  ops.ep_flush = flush;
  ops.ep_fence = fence;
  ops.ep_check = check;
}

bool is_connected(uct_ep_h ep, const uct_iface_addr_t* interface, const uct_ep_addr_t* endpoint) {
  const Endpoint& its = endpoint_of(ep);
  EndpointAddress address{};
  if (endpoint != nullptr) {
    std::memcpy(&address, endpoint, sizeof address);
  } else if (interface != nullptr) {
    std::memcpy(&address.inbox, interface, sizeof address.inbox);
  }
  return its.inbox != nullptr && address.inbox == its.peer && address.serial == its.peer_serial;
}

ucs_status_t Endpoint::connect(const InboxAddress& address) {
  peer = address;
  inbox = Inbox::of_peer(address);
  const Verdict verdict = judge(Operation::connect);
  usable_from = interface().progressed + verdict.progress;
  return inbox != nullptr ? verdict.status : UCS_ERR_UNREACHABLE;
}

Verdict Endpoint::admit(Operation operation) {
  if (failure != UCS_OK) return {.status = failure};
  if (is_blocked(*this)) return {.status = UCS_ERR_NO_RESOURCE};
  const Verdict verdict = judge(operation);
  if (verdict.status == UCS_ERR_NO_RESOURCE) {
    blocked_until = interface().progressed + verdict.progress;
  }
  return verdict;
}

// Outstanding operations end first, so that the handler finds the endpoint idle.
void Endpoint::fail(ucs_status_t status) {
  Interface& its = interface();
  failure = status;
  its.cancel(this, status);
  for (OpenRendezvous& open : its.rendezvous) {
    if (open.endpoint == this) {
      its.late.push_back(
          {++its.posted, this, 0, false, {.status = status}, {}, open.completion, open.row});
    }
  }
  std::erase_if(its.rendezvous, [&](const OpenRendezvous& open) { return open.endpoint == this; });
  oracle::Row row = its.row("failure");
  row.endpoint = this;
  row.status = status;
  oracle::note(row);
  if (its.on_error != nullptr) its.on_error(its.on_error_argument, this, status);
}

ucs_status_t post(Endpoint& endpoint, Call& call,
                  std::function<ucs_status_t(std::uint64_t& bytes)> move) {
  Interface& interface = endpoint.interface();
  oracle::Row row = interface.row(name_of(call.operation));
  row.endpoint = &endpoint;
  row.remote = call.remote;
  row.id = call.id;
  row.tracked = call.completion != nullptr;
  Verdict verdict = endpoint.admit(call.operation);
  // A copy within the process needs no key, and UCX passes an arbitrary one.
  const bool needs_key = call.key != UCT_INVALID_RKEY && !interface.flavour->copies;
  if (verdict.status == UCS_OK && needs_key &&
      !key_allows(call.key, endpoint.peer, call.remote, call.bytes)) {
    verdict = {.status = UCS_ERR_REJECTED};
  }
  const bool is_late =
      call.may_be_late && verdict.progress > 0 && verdict.status != UCS_ERR_NO_RESOURCE;
  row.status = verdict.status;
  if (is_late) {
    row.status = call.leaves_at_once && verdict.status == UCS_OK ? move(call.bytes) : UCS_OK;
    if (row.status == UCS_OK) row.status = UCS_INPROGRESS;
  } else if (verdict.status == UCS_OK) {
    row.status = move(call.bytes);
  }
  row.bytes = call.bytes;
  const std::size_t at = oracle::note(row);
  if (row.status == UCS_INPROGRESS) {
    std::function<ucs_status_t()> rest;
    if (!call.leaves_at_once) rest = [move, bytes = call.bytes]() mutable { return move(bytes); };
    interface.late.push_back({++interface.posted, &endpoint,
                              interface.progressed + verdict.progress, false, verdict, rest,
                              call.completion, at});
  }
  return row.status;
}

bool peer_has_room(Endpoint& endpoint) {
  if (endpoint.inbox->has_room()) return true;
  endpoint.blocked_until = endpoint.interface().progressed + 1;
  return false;
}

}  // namespace scripted
