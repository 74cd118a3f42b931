#include "ucp-shim/requests.hpp"

#include "ucp-shim/left_out.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

using log::UcpFunction;

thread_local constinit UcpFunction called_as = UcpFunction::none;

namespace {

using log::DropKind;
using log::UcpFamily;
using log::UcpOperation;

constinit std::atomic<bool> on{false};

// Everything up to and including UCX 1.13; later fields are appended and have later bits.
constexpr std::uint32_t kKnownFields =
    UCP_OP_ATTR_FIELD_REQUEST | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
    UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_REPLY_BUFFER |
    UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_RECV_INFO | UCP_OP_ATTR_FIELD_MEMH |
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FLAG_FAST_CMPL | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL |
    UCP_OP_ATTR_FLAG_MULTI_SEND;

// A newer program's parameters: its operations are recorded without their end, and it is said once.
void report_unknown_fields(std::uint32_t mask) {
  static constinit std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed)) {
    log::fault(log::Layer::ucp, log::FaultCode::request_field_unknown,
               static_cast<std::int32_t>(mask & ~kKnownFields), "newer than UCX 1.13");
  }
}

// The counter of operations of this family that did not fail at once.
std::uint64_t& accepted(log::LaneCounters& counters, UcpFamily family) {
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
    default:
      return counters.ucp_sends;
  }
}

void install_callback(UcpFamily family, ucp_request_param_t& handed) {
  if (family == UcpFamily::tag_receive) {
    handed.cb.recv = on_receive_end;
  } else if (family == UcpFamily::am_receive_data) {
    handed.cb.recv_am = on_data_end;
  } else {
    handed.cb.send = on_send_end;
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

// Field by field: wider loads of what the caller has just stored would wait for its stores. Fields
// that the mask does not name may be uninitialised, which is harmless; `memh`, which a caller built
// with older headers does not have, is read only if the mask says so.
void copy_parameters(const ucp_request_param_t* param, Parameters& to) {
  to.known = (param->op_attr_mask & ~kKnownFields) == 0;
  to.own.op_attr_mask = param->op_attr_mask;
  to.own.datatype = param->datatype;
  if (!to.known) {
    return;
  }
  to.own.flags = param->flags;
  to.own.request = param->request;
  to.own.cb = param->cb;
  to.own.user_data = param->user_data;
  to.own.reply_buffer = param->reply_buffer;
  to.own.memory_type = param->memory_type;
  to.own.recv_info = param->recv_info;
  if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) != 0) {
    to.own.memh = param->memh;
  }
}

std::uint64_t buffer_bytes(const ucp_request_param_t& param, const void* buffer, std::size_t count,
                           bool* known) {
  *known = true;
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) == 0) {
    return count;
  }
  switch (param.datatype & UCP_DATATYPE_CLASS_MASK) {
    case UCP_DATATYPE_CONTIG:
      return count * (param.datatype >> UCP_DATATYPE_SHIFT);
    case UCP_DATATYPE_IOV: {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < count; ++i) {
        bytes += static_cast<const ucp_dt_iov_t*>(buffer)[i].length;
      }
      return bytes;
    }
    default:
      *known = false;
      return 0;
  }
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
  if (tracking != Tracking::callback) {
    start_ = log::now();
    return;
  }
  copy_parameters(param, parameters_);
  if (!parameters_.known) [[unlikely]] {
    report_unknown_fields(param->op_attr_mask);
  }
  log::Slot* slot = parameters_.known ? log::acquire_slot(*lane_) : nullptr;
  if (slot != nullptr) {
    tracked_ = log::payload_of<TrackedRequest>(slot);
    const ucp_request_param_t& own = parameters_.own;
    const bool has_data = (own.op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA) != 0;
    tracked_->callback.send =
        (own.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0 ? own.cb.send : nullptr;
    tracked_->user_data = has_data ? own.user_data : nullptr;
    tracked_->operation = id_;
    tracked_->state = RequestState::in_call;
    tracked_->hide_in_call = false;
    ucp_request_param_t& handed = parameters_.own;
    handed.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    handed.user_data = tracked_;
    install_callback(family_of(function), handed);
  } else {
    ++lane_->counters().ucp_untracked;
  }
  start_ = log::now();
}

Call::End Call::finish(ucs_status_ptr_t result, const Operation& operation) {
  const std::uint64_t end = log::now();
  const ucs_status_t status = UCS_PTR_IS_PTR(result) ? UCS_INPROGRESS : UCS_PTR_STATUS(result);
  // A callback inside the call may have forked: the child returns here too, without the log.
  if (log::lane() == lane_) [[likely]] {
    log::LaneCounters& counters = lane_->counters();
    ++counters.ucp_operations;
    if (status >= 0) {
      ++accepted(counters, family_of(function_));
    }
    record(status, operation, end);
  }
  End result_end{false, status, {}};
  if (tracked_ == nullptr) {
    return result_end;
  }
  const bool pending = status == UCS_INPROGRESS;
  if (pending && second_at(tracked_, RequestState::returned)) {
    result_end = {true, tracked_->status, tracked_->received};
  }
  if (!pending || result_end.in_call) {
    log::release_slot(log::slot_of(tracked_));
  }
  return result_end;
}

void Call::record(ucs_status_t status, const Operation& operation, std::uint64_t end) {
  auto* record = lane_->reserve<UcpOperation>(DropKind::ucp);
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
  log::publish(record, log::RecordType::ucp_operation, sizeof *record / 8,
               static_cast<std::uint16_t>(static_cast<unsigned>(function_) | flags << 8),
               static_cast<std::uint32_t>(status));
}

// Order: record, give the slot back, then the caller's callback, which may free the request.
void on_send_end(void* request, ucs_status_t status, void* user_data) {
  auto* tracked = static_cast<TrackedRequest*>(user_data);
  const TrackedRequest copy = *tracked;
  record_end(copy.operation, status, nullptr);
  tracked->status = status;
  if (second_at(tracked, RequestState::fired)) {
    log::release_slot(log::slot_of(tracked));
  }
  if (copy.callback.send != nullptr) {
    copy.callback.send(request, status, copy.user_data);
  }
}

void on_data_end(void* request, ucs_status_t status, std::size_t length, void* user_data) {
  auto* tracked = static_cast<TrackedRequest*>(user_data);
  const TrackedRequest copy = *tracked;
  record_end(copy.operation, status, nullptr);
  tracked->status = status;
  if (second_at(tracked, RequestState::fired)) {
    log::release_slot(log::slot_of(tracked));
  }
  if (copy.callback.data != nullptr) {
    copy.callback.data(request, status, length, copy.user_data);
  }
}

void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data) {
  auto* tracked = static_cast<TrackedRequest*>(user_data);
  const TrackedRequest copy = *tracked;
  static constexpr ucp_tag_recv_info_t kNothing{};
  record_end(copy.operation, status, info != nullptr ? info : &kNothing);
  tracked->received = info != nullptr ? *info : ucp_tag_recv_info_t{};
  tracked->status = status;
  const bool in_call = !second_at(tracked, RequestState::fired);
  if (!in_call) {
    log::release_slot(log::slot_of(tracked));
  }
  if (copy.callback.receive != nullptr && !(in_call && copy.hide_in_call)) {
    copy.callback.receive(request, status, info, copy.user_data);
  }
}

}  // namespace uctrace::ucp
