// UCP streams: sends, and the receives that take the bytes of an endpoint in their order. The older
// forms call the *_nbx ones inside libucp, so their wrappers only leave their name.
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/left_out_operations.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"

using namespace uctrace;
using log::UcpFunction;

#define UCTRACE_CALLER __builtin_return_address(0)
#define UCTRACE_ORIGINAL(name) \
  static constinit interpose::Original<decltype(&::name)> original_##name { #name }

UCTRACE_ORIGINAL(ucp_stream_send_nb);
UCTRACE_ORIGINAL(ucp_stream_send_nbx);
UCTRACE_ORIGINAL(ucp_stream_recv_nb);
UCTRACE_ORIGINAL(ucp_stream_recv_nbx);
UCTRACE_ORIGINAL(ucp_stream_recv_data_nb);

UCTRACE_EXPORT ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                                    const ucp_request_param_t* param) {
  auto* original = original_ucp_stream_send_nbx.get(UCTRACE_CALLER);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    return ucp::post_left_out(*lane, log::UcpFamily::stream_send,
                              [=] { return original(ep, buffer, count, param); });
  }
  ucp::RequestParam handed;
  ucp::Call call(ucp::name_for(UcpFunction::stream_send_nbx), log::UcpFamily::stream_send, param,
                 handed);
  if (!call.active() && !ucp::counts_operations()) {
    return original(ep, buffer, count, param);
  }
  bool known;
  const std::uint64_t bytes = ucp::buffer_bytes(param, buffer, count, call.id(), &known);
  const ucp::CountedMemory memory = ucp::counted_memory(param, buffer, count);
  ucs_status_ptr_t result;
  if (!call.active()) {
    result = original(ep, buffer, count, param);
    ucp::count_sent(memory, result, bytes);
    return ucp::count_untagged_send(ucp::pass_untracked(result), ep, bytes);
  }
  {
    const uct::ContextScope scope({call.id(), log::Origin::ucp, log::Route::call});
    result = original(ep, buffer, count, call.handed(param));
  }
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(ep),
                       .buffer = buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .data = 0,
                       .received_bytes = 0,
                       .posted_tick = 0});
  ucp::count_sent(memory, result, bytes);
  if (ucp::counts_operations()) ucp::count_untagged_send(result, ep, bytes);
  return result;
}

// `*length` is valid if the receive ended at return; else its callback reports the length.
template <bool kCountsMemory>
static ucs_status_ptr_t receive(ucp_ep_h ep, void* buffer, size_t count, size_t* length,
                                const ucp_request_param_t* param, const void* caller) {
  auto* original = original_ucp_stream_recv_nbx.get(caller);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    return ucp::post_left_out(*lane, log::UcpFamily::stream_receive,
                              [=] { return original(ep, buffer, count, length, param); });
  }
  const UcpFunction function = ucp::name_for(UcpFunction::stream_recv_nbx);
  ucp::RequestParam handed;
  const ucp::CountedMemory alone =
      kCountsMemory ? ucp::detail::memory_if_only_counted(function, param, buffer, count)
                    : ucp::kNotCounted;
  ucp::Call call(function, log::UcpFamily::stream_receive, param, handed, ucp::Tracking::callback,
                 alone);
  if (!call.active()) {
    return ucp::pass_untracked(original(ep, buffer, count, length, param));
  }
  if (kCountsMemory && call.id() != 0) {
    call.count(ucp::find_counted_memory(param, buffer, count));
  }
  bool known;
  const std::uint64_t bytes = ucp::buffer_bytes(param, buffer, count, call.id(), &known);
  const ucs_status_ptr_t result = ucp::post_receive<kCountsMemory>(
      call, [&] { return original(ep, buffer, count, length, call.handed(param)); });
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(ep),
                       .buffer = buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .data = 0,
                       .received_bytes = result == nullptr ? *length : 0,
                       .posted_tick = 0});
  if (kCountsMemory && result == nullptr) ucp::count_received_at_return(call.counted(), length);
  return result;
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void* buffer, size_t count,
                                                    size_t* length,
                                                    const ucp_request_param_t* param) {
  return ucp::counts_memory() ? receive<true>(ep, buffer, count, length, param, UCTRACE_CALLER)
                              : receive<false>(ep, buffer, count, length, param, UCTRACE_CALLER);
}

// Programs poll this until there is data: only then is it an operation.
UCTRACE_EXPORT ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t* length) {
  auto* original = original_ucp_stream_recv_data_nb.get(UCTRACE_CALLER);
  ucp::RequestParam handed;
  ucp::Call call(UcpFunction::stream_recv_data_nb, log::UcpFamily::stream_receive, nullptr, handed,
                 ucp::Tracking::at_return);
  ucs_status_ptr_t data = original(ep, length);
  if (!call.active() || data == nullptr) {
    return data;
  }
  const bool failed = UCS_PTR_IS_ERR(data);
  const std::size_t received = failed ? 0 : *length;
  call.finish(failed ? data : UCS_STATUS_PTR(UCS_OK),
              {.handle = reinterpret_cast<std::uint64_t>(ep),
               .buffer = failed ? nullptr : data,
               .bytes = received,
               .bytes_known = true,
               .data = 0,
               .received_bytes = received,
               .posted_tick = 0});
  return data;
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                                   ucp_datatype_t datatype,
                                                   ucp_send_callback_t callback, unsigned flags) {
  const ucp::CalledAs name(UcpFunction::stream_send_nb);
  return original_ucp_stream_send_nb.get(UCTRACE_CALLER)(ep, buffer, count, datatype, callback,
                                                         flags);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void* buffer, size_t count,
                                                   ucp_datatype_t datatype,
                                                   ucp_stream_recv_callback_t callback,
                                                   size_t* length, unsigned flags) {
  const ucp::CalledAs name(UcpFunction::stream_recv_nb);
  return original_ucp_stream_recv_nb.get(UCTRACE_CALLER)(ep, buffer, count, datatype, callback,
                                                         length, flags);
}
