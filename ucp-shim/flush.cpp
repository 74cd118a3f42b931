// UCP flushes and fences, and the closing of endpoints, which flushes or, by force, gives up what
// is outstanding. ucp_ep_flush and ucp_worker_flush do not call their nbx forms; all closing
// functions do.
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/flush_parts.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

namespace {

using log::UcpFunction;

// `post` makes the original call. The blocking forms make progress inside it, which also posts for
// other operations.
template <typename Post>
ucs_status_ptr_t flush(UcpFunction function, Tracking tracking, const void* handle,
                       const ucp_request_param_t* param, Post post) {
  RequestParam handed;
  Call call(function, log::UcpFamily::flush, param, handed, tracking);
  if (!call.active()) {
    return post(param);
  }
  ucs_status_ptr_t result;
  {
    const uct::Context own{call.id(), log::Origin::ucp, log::Route::call};
    const uct::ContextScope scope(own);
    const FirstPartOf first(own);
    result = post(call.handed(param));
  }
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(handle),
                       .buffer = nullptr,
                       .bytes = 0,
                       .bytes_known = true,
                       .tag = 0,
                       .tag_mask = 0,
                       .posted_tick = 0});
  return result;
}

template <typename Post>
ucs_status_t blocking(UcpFunction function, const void* handle, Post post) {
  const ucs_status_ptr_t result =
      flush(function, Tracking::at_return, handle, nullptr,
            [=](const ucp_request_param_t*) -> ucs_status_ptr_t { return UCS_STATUS_PTR(post()); });
  return UCS_PTR_STATUS(result);  // a macro that evaluates its argument twice
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;
using log::UcpFunction;

#define UCTRACE_CALLER __builtin_return_address(0)
#define UCTRACE_ORIGINAL(name) \
  static constinit interpose::Original<decltype(&::name)> original_##name { #name }

UCTRACE_ORIGINAL(ucp_ep_flush);
UCTRACE_ORIGINAL(ucp_ep_flush_nb);
UCTRACE_ORIGINAL(ucp_ep_flush_nbx);
UCTRACE_ORIGINAL(ucp_worker_flush);
UCTRACE_ORIGINAL(ucp_worker_flush_nb);
UCTRACE_ORIGINAL(ucp_worker_flush_nbx);
UCTRACE_ORIGINAL(ucp_worker_fence);
UCTRACE_ORIGINAL(ucp_ep_close_nb);
UCTRACE_ORIGINAL(ucp_ep_close_nbx);
UCTRACE_ORIGINAL(ucp_disconnect_nb);
UCTRACE_ORIGINAL(ucp_ep_destroy);

UCTRACE_EXPORT ucs_status_t ucp_ep_flush(ucp_ep_h ep) {
  auto* original = original_ucp_ep_flush.get(UCTRACE_CALLER);
  return ucp::blocking(UcpFunction::ep_flush, ep, [=] { return original(ep); });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags,
                                                ucp_send_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::ep_flush_nb);
  return original_ucp_ep_flush_nb.get(UCTRACE_CALLER)(ep, flags, callback);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t* param) {
  auto* original = original_ucp_ep_flush_nbx.get(UCTRACE_CALLER);
  return ucp::flush(ucp::name_for(UcpFunction::ep_flush_nbx), ucp::Tracking::callback, ep, param,
                    [=](const ucp_request_param_t* handed) { return original(ep, handed); });
}

UCTRACE_EXPORT ucs_status_t ucp_worker_flush(ucp_worker_h worker) {
  auto* original = original_ucp_worker_flush.get(UCTRACE_CALLER);
  return ucp::blocking(UcpFunction::worker_flush, worker, [=] { return original(worker); });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags,
                                                    ucp_send_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::worker_flush_nb);
  return original_ucp_worker_flush_nb.get(UCTRACE_CALLER)(worker, flags, callback);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                                     const ucp_request_param_t* param) {
  auto* original = original_ucp_worker_flush_nbx.get(UCTRACE_CALLER);
  return ucp::flush(ucp::name_for(UcpFunction::worker_flush_nbx), ucp::Tracking::callback, worker,
                    param,
                    [=](const ucp_request_param_t* handed) { return original(worker, handed); });
}

UCTRACE_EXPORT ucs_status_t ucp_worker_fence(ucp_worker_h worker) {
  auto* original = original_ucp_worker_fence.get(UCTRACE_CALLER);
  return ucp::blocking(UcpFunction::worker_fence, worker, [=] { return original(worker); });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t* param) {
  auto* original = original_ucp_ep_close_nbx.get(UCTRACE_CALLER);
  return ucp::flush(ucp::name_for(UcpFunction::ep_close_nbx), ucp::Tracking::callback, ep, param,
                    [=](const ucp_request_param_t* handed) { return original(ep, handed); });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode) {
  const ucp::CalledAs name(UcpFunction::ep_close_nb);
  return original_ucp_ep_close_nb.get(UCTRACE_CALLER)(ep, mode);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep) {
  const ucp::CalledAs name(UcpFunction::disconnect_nb);
  return original_ucp_disconnect_nb.get(UCTRACE_CALLER)(ep);
}

UCTRACE_EXPORT void ucp_ep_destroy(ucp_ep_h ep) {
  const ucp::CalledAs name(UcpFunction::ep_destroy);
  original_ucp_ep_destroy.get(UCTRACE_CALLER)(ep);
}
