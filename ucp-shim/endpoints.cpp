// UCP's endpoints: when each was made, and the worker whose address it was made from. For an
// endpoint made by socket address, the peer is not known here (uct-shim/connections.hpp). The
// closing of endpoints is an operation (flush.cpp).
#include <ucp/api/ucp.h>

#include "device-attributor/device_attributor.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/requests.hpp"
#include "ucp-shim/worker_uid.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_ep_create)> original_create{"ucp_ep_create"};

struct Creation {
  std::uint64_t start_tick, remote_uid;
};

void define_endpoint(ucp_ep_h endpoint, ucp_worker_h worker, const Creation& creation) {
  if (log::Lane* lane = log::lane()) {
    if (auto* record = lane->define<log::UcpEndpoint>()) {
      record->tick = log::now();
      record->handle = reinterpret_cast<std::uint64_t>(endpoint);
      record->worker = reinterpret_cast<std::uint64_t>(worker);
      record->remote_uid = creation.remote_uid;
      const std::uint64_t duration = record->tick - creation.start_tick;
      log::publish(record, log::RecordType::ucp_endpoint, sizeof *record / 8, 0,
                   duration < UINT32_MAX ? static_cast<std::uint32_t>(duration) : UINT32_MAX);
    }
  }
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t* params,
                                          ucp_ep_h* endpoint) {
  const void* caller = __builtin_return_address(0);
  // Before the call: the address belongs to the caller, who may free it from a callback.
  const bool has_address = (params->field_mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) != 0;
  const ucp::Creation creation{
      log::now(), has_address && ucp::layer_on() ? ucp::uid_of(params->address, caller) : 0};
  if (ucp::layer_on() && !gpu::active()) {
    gpu::look_for_drivers(caller);  // the program may have loaded one since
  }
  const ucs_status_t status = ucp::original_create.get(caller)(worker, params, endpoint);
  if (status == UCS_OK && ucp::layer_on()) {
    if (log::counts()) ucp::name_peer(*endpoint, creation.remote_uid);
    ucp::define_endpoint(*endpoint, worker, creation);
  }
  return status;
}
