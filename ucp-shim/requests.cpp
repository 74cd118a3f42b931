#include "ucp-shim/requests.hpp"

#include "call-stacks/stacks.hpp"
#include "ucp-shim/active_requests.hpp"
#include "ucp-shim/left_out.hpp"
#include "uct-shim/carried.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

using log::UcpFunction;

thread_local constinit UcpFunction called_as = UcpFunction::none;

namespace {

using log::DropKind;
using log::UcpFamily;
using log::UcpOperation;

constinit std::atomic<bool> on{false};

// A newer program's parameters: its operations are recorded without their end, and it is said once.
void report_unknown_fields(std::uint32_t fields) {
  static constinit std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed)) {
    log::fault(log::Layer::ucp, log::FaultCode::request_field_unknown,
               static_cast<std::int32_t>(fields), "newer than UCX 1.22");
  }
}

// The counter of operations of this family that did not fail at once.
log::Counter& accepted(log::LiveCounters& counters, UcpFamily family) {
  switch (family) {
    case UcpFamily::tag_receive:
      return counters.ucp_receives;
    case UcpFamily::put:
      return counters.ucp_puts;
    case UcpFamily::get:
      return counters.ucp_gets;
    case UcpFamily::atomic:
      return counters.ucp_atomics;
    case UcpFamily::flush:
      return counters.ucp_flushes;
    case UcpFamily::am_send:
      return counters.ucp_am_sends;
    case UcpFamily::am_receive:
      return counters.ucp_am_receives;
    case UcpFamily::am_receive_data:
      return counters.ucp_am_data_receives;
    case UcpFamily::stream_send:
      return counters.ucp_stream_sends;
    case UcpFamily::stream_receive:
      return counters.ucp_stream_receives;
    default:
      return counters.ucp_sends;
  }
}

void install_callback(UcpFamily family, RequestParam& handed) {
  if (family == UcpFamily::tag_receive) {
    handed.cb.recv = on_receive_end;
  } else if (family == UcpFamily::am_receive_data) {
    handed.cb.recv_am = on_data_end;
  } else if (family == UcpFamily::stream_receive) {
    handed.cb.recv_stream = on_stream_end;
  } else {
    handed.cb.send = on_send_end;
  }
}

// A request that ends may have waited inside UCP to the last. Where one fails, others do, too.
void end_of_carried(void* request, ucs_status_t status) {
  uct::forget_carried(uct::request_of_handle(request));
  if (status < 0) {
    uct::forget_all_carried();
  }
}

// The end of an operation, from its callback. Receives add what was received.
void record_end(log::Id operation, ucs_status_t status, const ucp_tag_recv_info_t* received) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(DropKind::ucp);
    return;
  }
  ++lane->counters().ucp_completed;
  const std::size_t bytes =
      received != nullptr ? sizeof(log::UcpCompletion) : log::kSendCompletionWords * 8;
  auto* record = static_cast<log::UcpCompletion*>(
      lane->reserve_bytes(log::Stream::events, DropKind::ucp, bytes));
  if (record == nullptr) {
    return;
  }
  record->operation = operation;
  record->tick = log::now();
  if (received != nullptr) {
    record->sender_tag = received->sender_tag;
    record->length = received->length;
  }
  log::publish(record, log::RecordType::ucp_completion, bytes / 8, 0,
               static_cast<std::uint32_t>(status));
}

// Whether UCP posts for such an operation itself. A receive waits for what others post.
bool posts(UcpFamily family) {
  return family != UcpFamily::tag_receive && family != UcpFamily::am_receive &&
         family != UcpFamily::am_receive_data && family != UcpFamily::stream_receive;
}

// Marks one side as done; true if the other was before: the slot is ours to give back.
bool second_at(TrackedRequest* tracked, RequestState mine) {
  return __atomic_exchange_n(&tracked->state, mine, __ATOMIC_ACQ_REL) != RequestState::in_call;
}

}  // namespace

bool layer_on() { return on.load(std::memory_order_relaxed); }
void switch_layer_on() {
  find_left_out_functions();
  on.store(true, std::memory_order_relaxed);
  log::set_layer(log::Layer::ucp, log::LayerState::on);
}

Call::Call(UcpFunction function, const ucp_request_param_t* param, Tracking tracking)
    : lane_(layer_on() && !left_out(function) ? log::lane() : nullptr),
      function_(function),
      tracking_(tracking) {
  if (lane_ == nullptr) {
    if (layer_on() && !left_out(function)) {
      log::count_without_lane(DropKind::ucp);
    }
    return;
  }
  id_ = log::new_id(*lane_, log::IdKind::ucp_operation);
  if (tracking == Tracking::callback) {
    track(param);
  }
  start_ = log::now();
}

void Call::track(const ucp_request_param_t* param) {
  const std::uint32_t unknown = copy_parameters(param, parameters_);
  if (unknown != 0) [[unlikely]] {
    report_unknown_fields(unknown);
  }
  parameters_known_ = unknown == 0;
  log::Slot* slot = parameters_known_ ? log::acquire_slot(*lane_) : nullptr;
  if (slot == nullptr) {
    ++lane_->counters().ucp_untracked;
    return;
  }
  tracked_ = log::payload_of<TrackedRequest>(slot);
  RequestParam& handed = parameters_;
  const bool has_callback = (handed.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0;
  const bool has_data = (handed.op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA) != 0;
  tracked_->callback.send = has_callback ? handed.cb.send : nullptr;
  tracked_->user_data = has_data ? handed.user_data : nullptr;
  tracked_->operation = id_;
  tracked_->state = RequestState::in_call;
  tracked_->hide_in_call = false;
  tracked_->listed = false;
  handed.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  handed.user_data = tracked_;
  install_callback(family_of(function_), handed);
}

Call::End Call::finish(ucs_status_ptr_t result, const Operation& operation) {
  const std::uint64_t end = log::now();
  const ucs_status_t status = UCS_PTR_IS_PTR(result) ? UCS_INPROGRESS : UCS_PTR_STATUS(result);
  // A callback inside the call may have forked: the child returns here too, without the log.
  if (log::lane() == lane_) [[likely]] {
    log::LiveCounters& counters = lane_->counters();
    ++counters.ucp_operations;
    if (status >= 0) {
      ++accepted(counters, family_of(function_));
    }
    record(status, operation, end);
  }
  const bool pending = status == UCS_INPROGRESS;
  // Nothing was posted in the call, whose scope was the last: it waits inside UCP, where only
  // protocols v2 tell of its start (ucp-shim/dispatch.hpp).
  if (pending && uct::thread_state.inner_idle && posts(family_of(function_))) {
    uct::carry(uct::request_of_handle(result), {id_, log::Origin::ucp, log::Route::call});
  }
  End result_end{false, status, {}};
  if (tracked_ == nullptr) {
    if (pending && tracking_ == Tracking::callback) {
      take_active(result);  // what an earlier request at its place may have left
    }
    return result_end;
  }
  if (pending) {
    list(result);
    if (second_at(tracked_, RequestState::returned)) {
      result_end = {true, tracked_->status, tracked_->received};
      uct::forget_carried(uct::request_of_handle(result));
    }
  }
  if (!pending || result_end.in_call) {
    log::release_slot(log::slot_of(tracked_));
  }
  return result_end;
}

// Before the call is marked as returned: after that the request may end, and the slot be another's.
// One that ends on another thread just now stays in the list, where the next at its place finds it.
void Call::list(void* request) {
  const bool own_request = (parameters_.op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) != 0;
  const bool ended = __atomic_load_n(&tracked_->state, __ATOMIC_ACQUIRE) == RequestState::fired;
  tracked_->listed = !own_request && !ended && list_active(request);
}

void Call::record(ucs_status_t status, const Operation& operation, std::uint64_t end) {
  const std::uint32_t stack = stacks::of_ucp_operation(*lane_);
  const std::size_t bytes = sizeof(UcpOperation) + (stack != 0) * sizeof(std::uint64_t);
  auto* record = static_cast<UcpOperation*>(
      lane_->reserve_bytes(log::Stream::events, DropKind::ucp, bytes));
  if (record == nullptr) {
    return;
  }
  const bool untracked = tracking_ == Tracking::callback && tracked_ == nullptr;
  const unsigned flags = (operation.bytes_known ? 0 : UcpOperation::kUnknownLength) |
                         (untracked ? UcpOperation::kUntracked : 0) |
                         (operation.posted_tick != 0 ? UcpOperation::kProbed : 0) |
                         (tracking_ == Tracking::implicit ? UcpOperation::kImplicit : 0);
  record->id = id_;
  record->start_tick = start_;
  record->duration_ticks = end - start_;
  record->handle = operation.handle;
  record->bytes = operation.bytes;
  record->tag = operation.tag;
  record->tag_mask = operation.tag_mask;
  record->buffer = reinterpret_cast<std::uint64_t>(operation.buffer);
  if (family_of(function_) <= UcpFamily::tag_receive) {
    record->posted_tick = operation.posted_tick != 0 ? operation.posted_tick : start_;
  } else {
    const uct::Context& context = uct::thread_state.context;
    record->origin = context.kind == log::Origin::arrival ? context.origin : 0;
  }
  if (stack != 0) *reinterpret_cast<std::uint64_t*>(record + 1) = stack;
  log::publish(record, log::RecordType::ucp_operation, bytes / 8,
               static_cast<std::uint16_t>(static_cast<unsigned>(function_) | flags << 8),
               static_cast<std::uint32_t>(status));
}

namespace {

// An end that a callback tells: the record, then the slot, then the caller's callback, which may
// free the request.
struct Ended {
  TrackedRequest::Callback callback;
  void* user_data;
  bool hide_in_call;
  bool in_call;  // the call that posted the operation has not returned
  bool tell;     // the caller's callback: not of a request that the program has freed
};

Ended end(TrackedRequest* tracked, void* request, ucs_status_t status,
          const ucp_tag_recv_info_t* received) {
  tracked->status = status;
  tracked->received = received != nullptr ? *received : ucp_tag_recv_info_t{};
  record_end(tracked->operation, status, received);
  Ended ended{tracked->callback, tracked->user_data, tracked->hide_in_call, false, true};
  ended.in_call = !second_at(tracked, RequestState::fired);
  if (!ended.in_call) {
    ended.tell = !tracked->listed || take_active(request);
    log::release_slot(log::slot_of(tracked));
  }
  return ended;
}

}  // namespace

void on_send_end(void* request, ucs_status_t status, void* user_data) {
  end_of_carried(request, status);
  const Ended ended = end(static_cast<TrackedRequest*>(user_data), request, status, nullptr);
  if (ended.callback.send != nullptr && ended.tell) {
    ended.callback.send(request, status, ended.user_data);
  }
}

void on_data_end(void* request, ucs_status_t status, std::size_t length, void* user_data) {
  const Ended ended = end(static_cast<TrackedRequest*>(user_data), request, status, nullptr);
  if (ended.callback.data != nullptr && ended.tell) {
    ended.callback.data(request, status, length, ended.user_data);
  }
}

// In place of a sender's tag stands the arrival in whose handler the receive ended: its header
// tells the stream that the endpoint receives.
void on_stream_end(void* request, ucs_status_t status, std::size_t length, void* user_data) {
  const uct::Context& context = uct::thread_state.context;
  const ucp_tag_recv_info_t received{context.kind == log::Origin::arrival ? context.origin : 0,
                                     length};
  const Ended ended = end(static_cast<TrackedRequest*>(user_data), request, status, &received);
  if (ended.callback.stream != nullptr && ended.tell) {
    ended.callback.stream(request, status, length, ended.user_data);
  }
}

void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data) {
  static constexpr ucp_tag_recv_info_t kNothing{};
  const Ended ended = end(static_cast<TrackedRequest*>(user_data), request, status,
                          info != nullptr ? info : &kNothing);
  if (ended.callback.receive != nullptr && ended.tell && !(ended.in_call && ended.hide_in_call)) {
    ended.callback.receive(request, status, info, ended.user_data);
  }
}

}  // namespace uctrace::ucp
