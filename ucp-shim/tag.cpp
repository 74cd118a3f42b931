// UCP tag operations. The *_nbx calls record the operations; the older forms call them inside
// libucp, so their wrappers only leave their name.
#include "event-log/recorder/address_map.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/active_requests.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/counted_memory.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/left_out_operations.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;
using log::UcpFunction;

#define UCTRACE_ORIGINAL(name) \
  constinit Original<decltype(&::name)> original_##name { #name }
UCTRACE_ORIGINAL(ucp_tag_send_nb);
UCTRACE_ORIGINAL(ucp_tag_send_nbr);
UCTRACE_ORIGINAL(ucp_tag_send_nbx);
UCTRACE_ORIGINAL(ucp_tag_send_sync_nb);
UCTRACE_ORIGINAL(ucp_tag_send_sync_nbx);
UCTRACE_ORIGINAL(ucp_tag_recv_nb);
UCTRACE_ORIGINAL(ucp_tag_recv_nbr);
UCTRACE_ORIGINAL(ucp_tag_recv_nbx);
UCTRACE_ORIGINAL(ucp_tag_msg_recv_nb);
UCTRACE_ORIGINAL(ucp_tag_msg_recv_nbx);
UCTRACE_ORIGINAL(ucp_tag_probe_nb);
#undef UCTRACE_ORIGINAL

// Matched probes: the message's place in matching order is that of its probe, not of its receive.
constinit log::AddressMap<std::uint64_t, 4096> probed_at;

std::uint64_t take_probe_tick(ucp_tag_message_h message) {
  auto* entry = probed_at.find(message);
  if (entry == nullptr) {
    return 0;
  }
  const std::uint64_t tick = entry->value;
  probed_at.free(entry);
  return tick;
}

using Send = decltype(&::ucp_tag_send_nbx);

// `kMayCount` is false if the caller has seen that nothing is counted (log::counts()).
template <bool kMayCount>
UCTRACE_HOT inline ucs_status_ptr_t send(Send original, UcpFunction function, ucp_ep_h endpoint,
                                         const void* buffer, std::size_t count, ucp_tag_t tag,
                                         const ucp_request_param_t* param) {
  RequestParam handed;
  Call call(function, log::UcpFamily::tag_send, param, handed, Tracking::callback, kNotCounted,
            kMayCount);
  if (!call.active() && !(kMayCount && counts_operations())) {
    return original(endpoint, buffer, count, tag, param);
  }
  // Before the call: if the send ends inside it, the caller's callback may free a list of buffers.
  bool known;
  const std::uint64_t bytes = buffer_bytes(param, buffer, count, call.id(), &known);
  const CountedMemory memory = kMayCount ? counted_memory(param, buffer, count) : kNotCounted;
  ucs_status_ptr_t result;
  if (kMayCount && !call.active()) {
    result = original(endpoint, buffer, count, tag, param);
    count_sent(memory, result, bytes);
    return count_tag_send(pass_untracked(result), endpoint, tag, bytes);
  }
  {
    const uct::ContextScope scope({call.id(), log::Origin::ucp, log::Route::call});
    result = original(endpoint, buffer, count, tag, call.handed(param));
  }
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(endpoint),
                       .buffer = buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .tag = tag,
                       .tag_mask = 0,
                       .posted_tick = 0});
  if (kMayCount) {
    count_sent(memory, result, bytes);
    if (counts_operations()) count_tag_send(result, endpoint, tag, bytes);
  }
  return result;
}

struct Receive {
  ucp_worker_h worker;
  void* buffer;
  std::size_t count;
  ucp_tag_t tag, mask;
  std::uint64_t posted_tick;
};

// Where newer UCX stores the length of a receive that ends inside its call: nowhere of ours, if the
// caller asks for it itself.
void ask_for_info(const ucp_request_param_t& param, RequestParam& handed,
                  ucp_tag_recv_info_t& told) {
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) != 0) return;
  handed.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
  handed.recv_info.tag_info = &told;
}

// UCX 1.13 does not report what an immediately completed receive received. So we forbid immediate
// completion on the way down, and restore it on the way up: a receive that ended inside its call is
// given back as complete. The API allows that for every receive whose caller did not decide on it.
// True: it was forbidden.
UCTRACE_HOT inline bool forbid_immediate_end(const ucp_request_param_t& param, RequestParam& handed,
                                             TrackedRequest* tracked) {
  constexpr std::uint32_t kDecided = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  if (tracked == nullptr || (param.op_attr_mask & kDecided) != 0) return false;
  handed.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  tracked->hide_in_call = true;
  return true;
}

ucs_status_ptr_t give_back_as_complete(const ucp_request_param_t& param, void* request,
                                       const Call::End& end, const void* caller) {
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) != 0 &&
      param.recv_info.tag_info != nullptr) {
    *param.recv_info.tag_info = end.received;
  }
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) == 0) {
    free_request(request, caller);
  }
  return UCS_STATUS_PTR(end.status);
}

template <bool kCountsMemory, typename Post>
UCTRACE_HOT inline ucs_status_ptr_t receive(UcpFunction function, const Receive& what,
                                            const ucp_request_param_t* param, const void* caller,
                                            Post post) {
  RequestParam handed;
  const CountedMemory alone =
      kCountsMemory ? detail::memory_if_only_counted(function, param, what.buffer, what.count)
                    : kNotCounted;
  Call call(function, log::UcpFamily::tag_receive, param, handed, Tracking::callback, alone);
  if (!call.active()) {
    return kCountsMemory ? pass_untracked(post(param)) : post(param);
  }
  ucp_tag_recv_info_t told;
  told.length = kNotTold;
  if (kCountsMemory) {
    if (call.id() != 0) call.count(find_counted_memory(param, what.buffer, what.count));
    if (call.counted() != kNotCounted) ask_for_info(*param, call.parameters(), told);
  }
  const bool undo = forbid_immediate_end(*param, call.parameters(), call.tracked());
  bool known;
  const std::uint64_t bytes = buffer_bytes(param, what.buffer, what.count, call.id(), &known);
  const ucs_status_ptr_t result =
      post_receive<kCountsMemory>(call, [&] { return post(call.handed(param)); });
  const bool ended_in_call =
      call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(what.worker),
                           .buffer = what.buffer,
                           .bytes = bytes,
                           .bytes_known = known,
                           .tag = what.tag,
                           .tag_mask = what.mask,
                           .posted_tick = what.posted_tick});
  if (kCountsMemory && result == nullptr) count_received_at_return(call.counted(), &told.length);
  return undo && ended_in_call ? give_back_as_complete(*param, result, call.end(), caller) : result;
}

// One that is left out. Its end is counted, and has a record if recording is on by then.
template <typename Post>
UCTRACE_HOT inline ucs_status_ptr_t receive_left_out(log::Lane& lane,
                                                     const ucp_request_param_t* param,
                                                     const void* caller, Post post) {
  constexpr log::UcpFamily kFamily = log::UcpFamily::tag_receive;
  RequestParam handed;
  const bool known = detail::copy_known(param, handed);
  const log::Id id = log::new_id(lane, log::IdKind::ucp_operation);
  TrackedRequest* const tracked = known ? detail::track_in(handed, lane, id) : nullptr;
  if (tracked == nullptr) [[unlikely]] {
    ++lane.counters().ucp_untracked;
    return post_left_out(lane, kFamily, [&] { return post(param); });
  }
  handed.cb.recv = on_left_out_receive_end;
  const bool undo = forbid_immediate_end(*param, handed, tracked);
  leave_out(lane, kFamily);
  ucs_status_ptr_t result;
  {
    const uct::NoContextScope scope;
    result = post(reinterpret_cast<const ucp_request_param_t*>(&handed));
  }
  if (!UCS_PTR_IS_PTR(result)) [[unlikely]] {
    log::release_slot(log::slot_of(tracked));
    return correct_left_out(lane, kFamily, result);
  }
  const bool own_request = (param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) != 0;
  if (!detail::leave_to_callback(*tracked, result, own_request)) [[likely]] {
    return result;
  }
  const Call::End end{tracked->status, tracked->received};
  log::release_slot(log::slot_of(tracked));
  return undo ? give_back_as_complete(*param, result, end, caller) : result;
}

// The long paths of the two commonest functions are functions of their own: otherwise the path that
// only counts would have to save the registers that they need.

template <bool kMayCount>
[[gnu::noinline]] ucs_status_ptr_t record_send(ucp_ep_h ep, const void* buffer, std::size_t count,
                                               ucp_tag_t tag, const ucp_request_param_t* param,
                                               const void* caller) {
  return send<kMayCount>(original_ucp_tag_send_nbx.get(caller), name_for(UcpFunction::tag_send_nbx),
                         ep, buffer, count, tag, param);
}

template <bool kCountsMemory>
UCTRACE_HOT inline ucs_status_ptr_t receive_message(ucp_worker_h worker, void* buffer,
                                                    std::size_t count, ucp_tag_t tag,
                                                    ucp_tag_t mask,
                                                    const ucp_request_param_t* param,
                                                    const void* caller) {
  auto* original = original_ucp_tag_recv_nbx.get(caller);
  return receive<kCountsMemory>(name_for(UcpFunction::tag_recv_nbx),
                                {worker, buffer, count, tag, mask, 0}, param, caller,
                                [=](const ucp_request_param_t* handed) {
                                  return original(worker, buffer, count, tag, mask, handed);
                                });
}

[[gnu::noinline, gnu::cold]] ucs_status_ptr_t count_receive(ucp_worker_h worker, void* buffer,
                                                            std::size_t count, ucp_tag_t tag,
                                                            ucp_tag_t mask,
                                                            const ucp_request_param_t* param,
                                                            const void* caller) {
  return receive_message<true>(worker, buffer, count, tag, mask, param, caller);
}

[[gnu::noinline]] ucs_status_ptr_t record_receive(ucp_worker_h worker, void* buffer,
                                                  std::size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                                  const ucp_request_param_t* param,
                                                  const void* caller) {
  return receive_message<false>(worker, buffer, count, tag, mask, param, caller);
}

[[gnu::noinline]] ucs_status_ptr_t leave_out_send(ucp_ep_h ep, const void* buffer,
                                                  std::size_t count, ucp_tag_t tag,
                                                  const ucp_request_param_t* param,
                                                  const void* caller) {
  auto* original = original_ucp_tag_send_nbx.get(caller);
  log::Lane* const lane = lane_of_left_out();
  if (lane == nullptr) return record_send<false>(ep, buffer, count, tag, param, caller);
  return post_left_out(*lane, log::UcpFamily::tag_send,
                       [=] { return original(ep, buffer, count, tag, param); });
}

[[gnu::noinline]] ucs_status_ptr_t leave_out_receive(ucp_worker_h worker, void* buffer,
                                                     std::size_t count, ucp_tag_t tag,
                                                     ucp_tag_t mask,
                                                     const ucp_request_param_t* param,
                                                     const void* caller) {
  auto* original = original_ucp_tag_recv_nbx.get(caller);
  log::Lane* const lane = lane_of_left_out();
  if (lane == nullptr) return record_receive(worker, buffer, count, tag, mask, param, caller);
  return receive_left_out(*lane, param, caller, [=](const ucp_request_param_t* handed) {
    return original(worker, buffer, count, tag, mask, handed);
  });
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;
using log::UcpFunction;

#define UCTRACE_CALLER __builtin_return_address(0)

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                                 ucp_tag_t tag, const ucp_request_param_t* param) {
  if (log::counts_no_memory() && ucp::is_counted_by_mpi(tag)) {
    ucp::leave_to_mpi(ep);
    if (auto* known = ucp::original_ucp_tag_send_nbx.get_known()) {
      return known(ep, buffer, count, tag, param);
    }
  }
  if (log::only_records()) {
    return ucp::record_send<false>(ep, buffer, count, tag, param, UCTRACE_CALLER);
  }
  return log::leaves_out() ? ucp::leave_out_send(ep, buffer, count, tag, param, UCTRACE_CALLER)
                           : ucp::record_send<true>(ep, buffer, count, tag, param, UCTRACE_CALLER);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                                      ucp_tag_t tag,
                                                      const ucp_request_param_t* param) {
  auto* original = ucp::original_ucp_tag_send_sync_nbx.get(UCTRACE_CALLER);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    return ucp::post_left_out(*lane, log::UcpFamily::tag_send,
                              [=] { return original(ep, buffer, count, tag, param); });
  }
  return ucp::send<true>(original, ucp::name_for(UcpFunction::tag_send_sync_nbx), ep, buffer, count,
                         tag, param);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count,
                                                 ucp_tag_t tag, ucp_tag_t mask,
                                                 const ucp_request_param_t* param) {
  if (log::counts_no_memory()) {
    if (auto* known = ucp::original_ucp_tag_recv_nbx.get_known()) {
      return known(worker, buffer, count, tag, mask, param);
    }
  }
  if (log::only_records()) {
    return ucp::record_receive(worker, buffer, count, tag, mask, param, UCTRACE_CALLER);
  }
  if (log::leaves_out()) {
    return ucp::leave_out_receive(worker, buffer, count, tag, mask, param, UCTRACE_CALLER);
  }
  return ucp::counts_memory()
             ? ucp::count_receive(worker, buffer, count, tag, mask, param, UCTRACE_CALLER)
             : ucp::record_receive(worker, buffer, count, tag, mask, param, UCTRACE_CALLER);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void* buffer,
                                                     size_t count, ucp_tag_message_h message,
                                                     const ucp_request_param_t* param) {
  const void* caller = UCTRACE_CALLER;
  auto* original = ucp::original_ucp_tag_msg_recv_nbx.get(caller);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    ucp::take_probe_tick(message);
    return ucp::receive_left_out(*lane, param, caller, [=](const ucp_request_param_t* handed) {
      return original(worker, buffer, count, message, handed);
    });
  }
  const auto receive = [&]<bool kCountsMemory>() {
    return ucp::receive<kCountsMemory>(ucp::name_for(UcpFunction::tag_msg_recv_nbx),
                                       {worker, buffer, count, 0, 0, ucp::take_probe_tick(message)},
                                       param, caller, [=](const ucp_request_param_t* handed) {
                                         return original(worker, buffer, count, message, handed);
                                       });
  };
  return ucp::counts_memory() ? receive.operator()<true>() : receive.operator()<false>();
}

UCTRACE_EXPORT ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                                  ucp_tag_t mask, int remove,
                                                  ucp_tag_recv_info_t* info) {
  ucp_tag_message_h message =
      ucp::original_ucp_tag_probe_nb.get(UCTRACE_CALLER)(worker, tag, mask, remove, info);
  if (message != nullptr && remove != 0 && ucp::layer_on() && !log::counts_only()) {
    if (auto* entry = ucp::probed_at.claim(message)) {
      entry->value = log::now();
    }
  }
  return message;
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                                ucp_datatype_t datatype, ucp_tag_t tag,
                                                ucp_send_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::tag_send_nb);
  return ucp::original_ucp_tag_send_nb.get(UCTRACE_CALLER)(ep, buffer, count, datatype, tag,
                                                           callback);
}

UCTRACE_EXPORT ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void* buffer, size_t count,
                                             ucp_datatype_t datatype, ucp_tag_t tag,
                                             void* request) {
  const ucp::CalledAs name(UcpFunction::tag_send_nbr);
  return ucp::original_ucp_tag_send_nbr.get(UCTRACE_CALLER)(ep, buffer, count, datatype, tag,
                                                            request);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void* buffer, size_t count,
                                                     ucp_datatype_t datatype, ucp_tag_t tag,
                                                     ucp_send_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::tag_send_sync_nb);
  return ucp::original_ucp_tag_send_sync_nb.get(UCTRACE_CALLER)(ep, buffer, count, datatype, tag,
                                                                callback);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                                ucp_datatype_t datatype, ucp_tag_t tag,
                                                ucp_tag_t mask, ucp_tag_recv_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::tag_recv_nb);
  return ucp::original_ucp_tag_recv_nb.get(UCTRACE_CALLER)(worker, buffer, count, datatype, tag,
                                                           mask, callback);
}

UCTRACE_EXPORT ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void* buffer, size_t count,
                                             ucp_datatype_t datatype, ucp_tag_t tag, ucp_tag_t mask,
                                             void* request) {
  const ucp::CalledAs name(UcpFunction::tag_recv_nbr);
  return ucp::original_ucp_tag_recv_nbr.get(UCTRACE_CALLER)(worker, buffer, count, datatype, tag,
                                                            mask, request);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void* buffer, size_t count,
                                                    ucp_datatype_t datatype,
                                                    ucp_tag_message_h message,
                                                    ucp_tag_recv_callback_t callback) {
  const ucp::CalledAs name(UcpFunction::tag_msg_recv_nb);
  return ucp::original_ucp_tag_msg_recv_nb.get(UCTRACE_CALLER)(worker, buffer, count, datatype,
                                                               message, callback);
}
