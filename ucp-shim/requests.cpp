#include "ucp-shim/requests.hpp"

#include "call-stacks/stacks.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "ucp-shim/active_requests.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/left_out.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/deferred.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::ucp {

constinit std::atomic<bool> detail::on{false};

using log::DropKind;
using log::UcpFamily;

// The program uses newer parameters: its operations are recorded without their end, which one fault
// reports.
void detail::report_unknown_fields(std::uint32_t fields) {
  static constinit log::OncePerLog reported;
  if (!reported.take()) return;
  static_assert(ucx::kMajor == 1 && ucx::kNewest.minor == 23, "as the words below");
  log::fault(log::Layer::ucp, log::FaultCode::request_field_unknown,
             static_cast<std::int32_t>(fields), "newer than UCX 1.23");
}

namespace {

// A request that ends may have waited inside UCP until its end. If one fails, others do, too.
void end_of_deferred(void* request, ucs_status_t status) {
  if (uct::any_deferred()) [[unlikely]] {
    uct::forget_deferred(uct::request_of_handle(request));
    if (status < 0) {
      uct::forget_all_deferred();
    }
  }
}

// A message longer than the receive is truncated, but the receive took it.
bool took_message(ucs_status_t status) {
  return status == UCS_OK || status == UCS_ERR_MESSAGE_TRUNCATED;
}

// The end of an operation, from its callback. Receives add what was received.
UCTRACE_HOT inline void record_end(log::Lane* lane, log::Id operation, UcpFamily family,
                                   ucs_status_t status, const ucp_tag_recv_info_t* received) {
  if (lane == nullptr) [[unlikely]] {
    log::count_without_lane(DropKind::ucp);
    return;
  }
  ++lane->counters().ucp_completed;
  lane->counters().ucp_messages_taken += family == UcpFamily::tag_receive && took_message(status);
  // An operation that a short message ends has ended at its arrival: the handler has done nothing
  // else yet.
  std::uint64_t tick;
  const bool at_arrival = lane->shared_tick_now(tick) == log::SharedTick::Of::arrival;
  const std::size_t bytes =
      received != nullptr ? sizeof(log::UcpCompletion) : log::kSendCompletionWords * 8;
  auto* record = static_cast<log::UcpCompletion*>(
      lane->reserve_bytes(log::Stream::events, DropKind::ucp, bytes));
  if (record == nullptr) [[unlikely]] {
    return;
  }
  record->operation = operation;
  record->tick = at_arrival ? tick : log::now();
  if (received != nullptr) {
    record->sender_tag = received->sender_tag;
    record->length = received->length;
  }
  log::publish(record, log::RecordType::ucp_completion, bytes / 8,
               at_arrival ? log::UcpCompletion::kArrivalTick : 0,
               static_cast<std::uint32_t>(status));
}

}  // namespace

void switch_layer_on() {
  find_left_out_functions();
  log::set_peer_of_endpoint(peer_at);
  detail::on.store(true, std::memory_order_relaxed);
  log::set_layer(log::Layer::ucp, log::LayerState::on);
}

// Lists the request before the call is marked as returned: after that it may end, and its slot may
// become another operation's.
bool detail::leave_to_callback(TrackedRequest& tracked, void* request, bool own_request) {
  if (__atomic_load_n(&tracked.state, __ATOMIC_ACQUIRE) == RequestState::fired) {
    return true;
  }
  tracked.listed = own_request ? 0 : list_active(request);
  if (__atomic_exchange_n(&tracked.state, RequestState::returned, __ATOMIC_ACQ_REL) ==
      RequestState::in_call) [[likely]] {
    return false;
  }
  if (tracked.listed != 0) {
    end_active(tracked.listed, request);
  }
  return true;
}

namespace {

// An end that a callback reports: first the record, then the slot, then the caller's callback,
// which may free the request.
struct Ended {
  TrackedRequest::Callback callback;
  void* user_data;
  bool hide_in_call;
  bool in_call;  // the call that posted the operation has not returned
  bool tell;     // the caller's callback: not of a request that the program has freed
};

// `kCounted`: a receive into memory that is counted, and perhaps not recorded. `length` is what it
// received.
template <bool kCounted>
UCTRACE_HOT inline Ended end(TrackedRequest* tracked, void* request, UcpFamily family,
                             ucs_status_t status, const ucp_tag_recv_info_t* received,
                             std::uint64_t length) {
  bool in_call = __atomic_load_n(&tracked->state, __ATOMIC_ACQUIRE) == RequestState::in_call;
  log::Lane* const lane = log::lane();
  if (kCounted) count_received(tracked->counted, status, length);
  if (!kCounted || tracked->operation != 0) {
    record_end(lane, tracked->operation, family, status, received);
  }
  Ended ended{tracked->callback, tracked->user_data, tracked->hide_in_call, false, true};
  if (in_call) {
    tracked->status = status;
    tracked->received = received != nullptr ? *received : ucp_tag_recv_info_t{};
    in_call = __atomic_exchange_n(&tracked->state, RequestState::fired, __ATOMIC_ACQ_REL) ==
              RequestState::in_call;
  }
  ended.in_call = in_call;
  if (!in_call) {
    ended.tell = tracked->listed == 0 || end_active(tracked->listed, request);
    log::release_slot(log::slot_of(tracked), lane);
  }
  return ended;
}

}  // namespace

void on_send_end(void* request, ucs_status_t status, void* user_data) {
  end_of_deferred(request, status);
  const Ended ended = end<false>(static_cast<TrackedRequest*>(user_data), request, UcpFamily::none,
                                 status, nullptr, 0);
  if (ended.callback.send != nullptr && ended.tell) {
    ended.callback.send(request, status, ended.user_data);
  }
}

template <bool kCounted>
void on_data_end(void* request, ucs_status_t status, std::size_t length, void* user_data) {
  const Ended ended = end<kCounted>(static_cast<TrackedRequest*>(user_data), request,
                                    UcpFamily::am_receive_data, status, nullptr, length);
  if (ended.callback.data != nullptr && ended.tell) {
    ended.callback.data(request, status, length, ended.user_data);
  }
}

// In place of a sender's tag, the record has the arrival in whose handler the receive ended: its
// header names the stream that the endpoint receives.
template <bool kCounted>
void on_stream_end(void* request, ucs_status_t status, std::size_t length, void* user_data) {
  const uct::Context& context = uct::thread_state.context;
  const ucp_tag_recv_info_t received{context.kind == log::Origin::arrival ? context.origin : 0,
                                     length};
  const Ended ended = end<kCounted>(static_cast<TrackedRequest*>(user_data), request,
                                    UcpFamily::stream_receive, status, &received, length);
  if (ended.callback.stream != nullptr && ended.tell) {
    ended.callback.stream(request, status, length, ended.user_data);
  }
}

template <bool kCounted>
void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data) {
  static constexpr ucp_tag_recv_info_t kNothing{};
  const ucp_tag_recv_info_t* received = info != nullptr ? info : &kNothing;
  const Ended ended = end<kCounted>(static_cast<TrackedRequest*>(user_data), request,
                                    UcpFamily::tag_receive, status, received, received->length);
  if (ended.callback.receive != nullptr && ended.tell && !(ended.in_call && ended.hide_in_call)) {
    ended.callback.receive(request, status, info, ended.user_data);
  }
}

void on_left_out_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                             void* user_data) {
  auto* tracked = static_cast<TrackedRequest*>(user_data);
  log::Lane* const lane = log::lane_that_stays_off();
  if (lane == nullptr ||
      __atomic_load_n(&tracked->state, __ATOMIC_ACQUIRE) == RequestState::in_call) [[unlikely]] {
    return on_receive_end<false>(request, status, info, user_data);
  }
  ++lane->counters().ucp_completed;
  lane->counters().ucp_messages_taken += took_message(status);
  lane->leave_out(DropKind::ucp);
  const auto callback = tracked->callback.receive;
  void* const data = tracked->user_data;
  const bool tell = tracked->listed == 0 || end_active(tracked->listed, request);
  log::release_slot(log::slot_of(tracked), lane);
  if (callback != nullptr && tell) callback(request, status, info, data);
}

template void on_data_end<false>(void*, ucs_status_t, std::size_t, void*);
template void on_data_end<true>(void*, ucs_status_t, std::size_t, void*);
template void on_stream_end<false>(void*, ucs_status_t, std::size_t, void*);
template void on_stream_end<true>(void*, ucs_status_t, std::size_t, void*);
template void on_receive_end<false>(void*, ucs_status_t, const ucp_tag_recv_info_t*, void*);
template void on_receive_end<true>(void*, ucs_status_t, const ucp_tag_recv_info_t*, void*);

}  // namespace uctrace::ucp
