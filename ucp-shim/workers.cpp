// UCP's workers, each named by its uid; a pid alone never identifies a process.
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "device-attributor/device_attributor.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/contexts.hpp"
#include "ucp-shim/dispatch.hpp"
#include "ucp-shim/handlers.hpp"
#include "ucp-shim/memory_belief.hpp"
#include "ucp-shim/protocols.hpp"
#include "ucp-shim/requests.hpp"
#include "ucp-shim/worker_uid.hpp"
#include "uct-shim/deferred.hpp"
#include "uct-shim/interfaces.hpp"
#include "uct-shim/rebuilt.hpp"
#include "uct-shim/version_check.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_worker_create)> original_worker_create{"ucp_worker_create"};
constinit Original<decltype(&::ucp_context_query)> context_query{"ucp_context_query"};
constinit Original<decltype(&::ucp_worker_destroy)> original_worker_destroy{"ucp_worker_destroy"};

void define_worker(ucp_worker_h worker, ucp_context_h context, const void* caller) {
  const std::uint64_t uid = uid_of(worker, caller);
  const std::uint16_t ucx = uct::ucx_number(caller);
  const JobSize job = job_size_of(context);
  log::name_counter(log::CounterNameKind::worker, 0, uid, nullptr, 0);
  if (log::Lane* lane = log::lane()) {
    if (auto* record = lane->define<log::UcpWorker>()) {
      record->tick = log::now();
      record->handle = reinterpret_cast<std::uint64_t>(worker);
      record->uid = uid;
      record->estimated_endpoints = job.endpoints;
      record->estimated_processes_of_node = job.processes_of_node;
      log::publish(record, log::RecordType::ucp_worker, sizeof *record / 8, ucx, 0);
    }
  }
}

void define_worker_end(ucp_worker_h worker) {
  if (log::Lane* lane = log::lane()) {
    if (auto* record = lane->define<log::HandleEnd>()) {
      record->tick = log::now();
      record->handle = reinterpret_cast<std::uint64_t>(worker);
      log::publish(record, log::RecordType::ucp_worker_destroy, sizeof *record / 8, 0, 0);
    }
  }
}

// Once in a log: UCT operations that such a UCP queues inside itself are joined with their UCP
// operation by what else is known about them.
void report_requests(std::size_t bytes, const uct::UcxVersion& version) {
  static constinit log::OncePerLog reported;
  if (!reported.take()) return;
  char detail[96];
  snprintf(detail, sizeof detail, "requests of %zu bytes of UCX %u.%u.%u were not measured", bytes,
           version.major, version.minor, version.patch);
  log::fault(log::Layer::ucp, log::FaultCode::self_check_failed, 0, detail);
}

// What this libucp says about its requests, before it has any.
void learn_requests(ucp_context_h context, const void* caller) {
  const std::optional<uct::UcxVersion> version = uct::ucx_version(caller);
  auto* query = context_query.get(caller);
  if (!version || query == nullptr) {
    return;
  }
  ucp_context_attr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
  const bool told = query(context, &attributes) == UCS_OK;
  const ucx::Release* const release = ucx::find_release(version->major, version->minor);
  uct::RequestLayout layout{};
  if (told && release != nullptr) layout = uct::request_layout(*release, attributes.request_size);
  if (layout == uct::RequestLayout{}) {
    report_requests(told ? attributes.request_size : 0, *version);
  }
  uct::use_request_layout(layout);
  const void* own = reinterpret_cast<const void*>(original_worker_create.get(caller));
  const bool dispatches = uct::attach_dispatch(own, dispatch);
  if (release != nullptr) {
    use_protocols(own, *release, dispatches);
  }
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t ucp_worker_create(ucp_context_h context,
                                              const ucp_worker_params_t* params,
                                              ucp_worker_h* worker) {
  const void* caller = __builtin_return_address(0);
  interpose::look_for_patched_ucx();
  const bool recording = log::start() &&
                         log::layer_state(log::Layer::ucp) != log::LayerState::unwanted &&
                         uct::ucx_supported(caller);
  if (recording) {
    gpu::look_for_drivers(caller);  // UCX loads those that it is for with its context
  }
  // What UCP queues inside itself matters only for the UCT operations that follow from it.
  if (recording && uct::layer_wanted() && !log::counts_only()) {
    ucp::learn_requests(context, caller);
  }
  uct::opening_for_ucp = true;
  const ucs_status_t status = ucp::original_worker_create.get(caller)(context, params, worker);
  uct::opening_for_ucp = false;
  if (status == UCS_OK && recording) {
    ucp::switch_layer_on();
    ucp::define_worker(*worker, context, caller);
    log::see_gpu_driver();
    ucp::learn_devices(caller);
  }
  return status;
}

UCTRACE_EXPORT void ucp_worker_destroy(ucp_worker_h worker) {
  if (ucp::layer_on()) {
    ucp::define_worker_end(worker);
  }
  const ucp::HandlersOf handlers(worker);
  ucp::original_worker_destroy.get(__builtin_return_address(0))(worker);
}
