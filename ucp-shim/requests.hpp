// A UCP operation between its call and its end.
//
// Every call that may end later is handed down with our own callback and user data, so that we see
// its end. A slot keeps the caller's, which are called with what they expect. Implicit operations
// have no end to wait for: UCP frees their request at once, and the callback with it.
//
// Protocol of TrackedRequest::state, which the posting call and the callback may reach at the same
// time on different threads: in_call -> returned (by the call) or in_call -> fired (by the
// callback). Whichever comes second gives the slot back.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>

#include "call-stacks/stacks.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"
#include "ucp-shim/active_requests.hpp"
#include "ucp-shim/buffer_memory.hpp"
#include "ucp-shim/counted_memory.hpp"
#include "ucp-shim/left_out.hpp"
#include "ucp-shim/parameters.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

enum class RequestState : std::uint8_t { in_call, returned, fired };

struct TrackedRequest {
  union Callback {
    ucp_send_nbx_callback_t send;
    ucp_tag_recv_nbx_callback_t receive;
    ucp_am_recv_data_nbx_callback_t data;
    ucp_stream_recv_nbx_callback_t stream;
  } callback;  // the caller's; nullptr if it has none
  void* user_data;
  log::Id operation;
  ucp_tag_recv_info_t received;  // receives that ended inside their call
  ucs_status_t status;
  RequestState state;     // accessed with __atomic builtins
  bool hide_in_call;      // an end inside the call is not told to the caller's callback
  ActivePlace listed;     // the program may free it before it ends
  CountedMemory counted;  // where a receive puts its data; set only of one that is counted
};

// How the end of an operation is known.
enum class Tracking : std::uint8_t {
  callback,  // by our callback, unless it ended at return
  at_return,
  implicit,  // not at all: see UcpOperation::kImplicit
};

namespace detail {
UCTRACE_OWN extern constinit std::atomic<bool> on;
void report_unknown_fields(std::uint32_t fields);
}  // namespace detail

// True once this process's UCP layer is recording.
inline bool layer_on() { return detail::on.load(std::memory_order_relaxed); }
void switch_layer_on();

// One UCP call being recorded, or a receive into memory that is counted: only its end shows how
// much came. Inactive (and everything a no-op) while recording is off. Its members stay in
// registers, because nothing takes its address: so the parameters to hand down lie outside of it.
class Call {
 public:
  // `family` is that of the function; its wrapper knows it. `handed` is room for the parameters to
  // hand down; it is used if a callback reports the end. `may_count`: false if the wrapper has seen
  // that nothing is counted (log::counts()).
  UCTRACE_HOT Call(log::UcpFunction function, log::UcpFamily family,
                   const ucp_request_param_t* param, RequestParam& handed,
                   Tracking tracking = Tracking::callback, CountedMemory counted = kNotCounted,
                   bool may_count = true);

  bool active() const { return lane_ != nullptr; }
  log::Id id() const { return id_; }
  RequestParam& parameters() { return parameters_; }
  // What to hand down instead of the caller's `param`.
  const ucp_request_param_t* handed(const ucp_request_param_t* param) const {
    return tracking_ == Tracking::callback && parameters_known_
               ? reinterpret_cast<const ucp_request_param_t*>(&parameters_)
               : param;
  }
  // For a receive that is recorded: its memory is asked for after its start.
  void count(CountedMemory memory) {
    counted_ = memory;
    if (memory != kNotCounted && tracked_ != nullptr) count_at_end();
  }
  CountedMemory counted() const { return counted_; }
  // nullptr: no slot was ready, or unknown parameters; the operation passes through untracked.
  TrackedRequest* tracked() { return tracked_; }

  // The fields of UcpOperation that depend on the family of the function.
  struct Operation {
    std::uint64_t handle;
    const void* buffer;
    std::uint64_t bytes;
    bool bytes_known;
    union {
      std::uint64_t tag, remote, am_id, data;
    };
    union {
      std::uint64_t tag_mask, reply_buffer, header_bytes, received_bytes;
    };
    std::uint64_t posted_tick;  // tags; 0 = at the call
  };
  // Records the operation; gives the slot back if the operation ended already. True: it ended
  // inside its call by way of the callback, and end() tells how.
  UCTRACE_HOT bool finish(ucs_status_ptr_t result, const Operation& operation);

  struct End {
    ucs_status_t status;
    ucp_tag_recv_info_t received;
  };
  const End& end() const { return end_; }

 private:
  // The compiler knows the result for a call whose memory is not counted.
  bool only_counts() const { return counted_ != kNotCounted && id_ == 0; }
  UCTRACE_HOT void track(const ucp_request_param_t* param);
  void count_at_end();
  UCTRACE_HOT void take_start();
  UCTRACE_HOT std::size_t take_extras(const Operation& operation, log::ExtraWords& extra);
  UCTRACE_HOT void record(ucs_status_t status, const Operation& operation, std::uint64_t end_tick);
  UCTRACE_HOT bool settle(void* request);

  log::Lane* lane_;
  log::UcpFunction function_;
  log::UcpFamily family_;
  Tracking tracking_;
  unsigned flags_ = 0;  // of UcpOperation: which times are those of the MPI call around it
  bool within_nonblocking_ = false;
  bool parameters_known_ = false;
  log::Id id_ = 0;  // 0: the operation is only counted
  CountedMemory counted_;
  std::uint64_t start_ = 0;
  TrackedRequest* tracked_ = nullptr;
  RequestParam& parameters_;  // the caller's with ours in them, to hand down
  End end_{};                 // set where finish() says so
};

// Our callbacks; `user_data` is the TrackedRequest. Receives into memory that is counted have their
// own, so that the others need no check.
void on_send_end(void* request, ucs_status_t status, void* user_data);
template <bool kCounted>
void on_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                    void* user_data);
template <bool kCounted>
void on_data_end(void* request, ucs_status_t status, std::size_t length, void* user_data);
template <bool kCounted>
void on_stream_end(void* request, ucs_status_t status, std::size_t length, void* user_data);

// Of a receive that is left out (left_out_operations.hpp): its end is counted, and recorded only if
// recording is on by then.
void on_left_out_receive_end(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                             void* user_data);

namespace detail {

// The counter of operations of this family that did not fail at once, by UcpFamily.
inline constexpr log::Counter log::LiveCounters::*kAccepted[] = {
    &log::LiveCounters::ucp_sends,  // none
    &log::LiveCounters::ucp_sends,
    &log::LiveCounters::ucp_receives,
    &log::LiveCounters::ucp_puts,
    &log::LiveCounters::ucp_gets,
    &log::LiveCounters::ucp_atomics,
    &log::LiveCounters::ucp_flushes,
    &log::LiveCounters::ucp_am_sends,
    &log::LiveCounters::ucp_am_receives,
    &log::LiveCounters::ucp_am_data_receives,
    &log::LiveCounters::ucp_stream_sends,
    &log::LiveCounters::ucp_stream_receives,
};
static_assert(sizeof kAccepted / sizeof kAccepted[0] ==
              static_cast<std::size_t>(log::UcpFamily::stream_receive) + 1);

inline bool is_recorded(log::UcpFunction function, bool may_count = true) {
  return !(may_count && log::counts_only()) && !left_out(function);
}

// The memory of a receive that is counted and not recorded.
inline CountedMemory memory_if_only_counted(log::UcpFunction function,
                                            const ucp_request_param_t* param, const void* buffer,
                                            std::size_t count) {
  return is_recorded(function) ? kNotCounted : find_counted_memory(param, buffer, count);
}

// Whether UCP posts for such an operation itself. A receive waits for what others post.
constexpr bool posts(log::UcpFamily family) {
  return family != log::UcpFamily::tag_receive && family != log::UcpFamily::am_receive &&
         family != log::UcpFamily::am_receive_data && family != log::UcpFamily::stream_receive;
}

// The call that posted the operation returns. True: its callback came first, and the caller of this
// function must give the slot back.
bool leave_to_callback(TrackedRequest& tracked, void* request, bool own_request);

// False: some are unknown, which is reported.
UCTRACE_HOT inline bool copy_known(const ucp_request_param_t* param, RequestParam& handed) {
  const std::uint32_t unknown = copy_parameters(param, handed);
  if (unknown != 0) [[unlikely]] {
    report_unknown_fields(unknown);
  }
  return unknown == 0;
}

// Prepares copied parameters for our callback, which install_callback() puts into them. nullptr: no
// slot is ready.
UCTRACE_HOT inline TrackedRequest* track_in(RequestParam& handed, log::Lane& lane,
                                            log::Id operation) {
  log::Slot* slot = log::acquire_slot(lane);
  if (slot == nullptr) return nullptr;
  auto* tracked = log::payload_of<TrackedRequest>(slot);
  const bool has_callback = (handed.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0;
  const bool has_data = (handed.op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA) != 0;
  tracked->callback.send = has_callback ? handed.cb.send : nullptr;
  tracked->user_data = has_data ? handed.user_data : nullptr;
  tracked->operation = operation;
  tracked->state = RequestState::in_call;
  tracked->hide_in_call = false;
  tracked->listed = 0;
  handed.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  handed.user_data = tracked;
  return tracked;
}

template <bool kCounted>
inline void install_callback(log::UcpFamily family, RequestParam& handed) {
  if (family == log::UcpFamily::tag_receive) {
    handed.cb.recv = on_receive_end<kCounted>;
  } else if (family == log::UcpFamily::am_receive_data) {
    handed.cb.recv_am = on_data_end<kCounted>;
  } else if (family == log::UcpFamily::stream_receive) {
    handed.cb.recv_stream = on_stream_end<kCounted>;
  } else {
    handed.cb.send = on_send_end;
  }
}

}  // namespace detail

inline Call::Call(log::UcpFunction function, log::UcpFamily family,
                  const ucp_request_param_t* param, RequestParam& handed, Tracking tracking,
                  CountedMemory counted, bool may_count)
    : lane_(layer_on() && (detail::is_recorded(function, may_count) || counted != kNotCounted)
                ? log::lane()
                : nullptr),
      function_(function),
      family_(family),
      tracking_(tracking),
      counted_(counted),
      parameters_(handed) {
  if (lane_ == nullptr) [[unlikely]] {
    if (layer_on() && detail::is_recorded(function)) {
      log::count_without_lane(log::DropKind::ucp);
    }
    return;
  }
  if (counted_ != kNotCounted && !detail::is_recorded(function)) [[unlikely]] {
    track(param);
    return;
  }
  id_ = log::new_id(*lane_, log::IdKind::ucp_operation);
  if (tracking == Tracking::callback) {
    track(param);
  }
  take_start();
}

// A point-to-point call of MPI first posts its operation: both begin at one tick. Anything that the
// thread did in between would have ended the sharing.
inline void Call::take_start() {
  std::uint64_t tick;
  const log::SharedTick::Of shared = lane_->shared_tick_now(tick);
  lane_->end_shared_tick();
  const bool begins_call = shared == log::SharedTick::Of::blocking_call ||
                           shared == log::SharedTick::Of::nonblocking_call;
  if (begins_call && family_ <= log::UcpFamily::tag_receive) {
    start_ = tick;
    flags_ = log::UcpOperation::kCallStart;
    within_nonblocking_ = shared == log::SharedTick::Of::nonblocking_call;
  } else {
    start_ = log::now();
  }
}

inline void Call::track(const ucp_request_param_t* param) {
  parameters_known_ = detail::copy_known(param, parameters_);
  tracked_ = parameters_known_ ? detail::track_in(parameters_, *lane_, id_) : nullptr;
  if (tracked_ == nullptr) {
    if (!only_counts()) ++lane_->counters().ucp_untracked;
    return;
  }
  if (counted_ == kNotCounted) {
    detail::install_callback<false>(family_, parameters_);
  } else {
    count_at_end();
  }
}

inline void Call::count_at_end() {
  tracked_->counted = counted_;
  detail::install_callback<true>(family_, parameters_);
}

inline bool Call::finish(ucs_status_ptr_t result, const Operation& operation) {
  const ucs_status_t status = UCS_PTR_IS_PTR(result) ? UCS_INPROGRESS : UCS_PTR_STATUS(result);
  const bool pending = status == UCS_INPROGRESS;
  // Nothing is left to do for a call whose operation has ended, or for one that only posts it.
  if (flags_ != 0 && (!pending || within_nonblocking_)) {
    flags_ |= log::UcpOperation::kCallEnd;
  }
  const std::uint64_t end_tick = (flags_ & log::UcpOperation::kCallEnd) != 0 ? start_ : log::now();
  // A callback inside the call may have forked: the child returns here too, without the log.
  log::Lane* const lane = log::lane();
  if (lane == lane_ && !only_counts()) [[likely]] {
    log::LiveCounters& counters = lane_->counters();
    ++counters.ucp_operations;
    if (status >= 0) [[likely]] {
      ++(counters.*detail::kAccepted[static_cast<std::size_t>(family_)]);
    }
    record(status, operation, end_tick);
  }
  if (pending) {
    return settle(result);
  }
  if (tracked_ != nullptr) {
    log::release_slot(log::slot_of(tracked_), lane);
  }
  return false;
}

// The call returns before the end of its operation is known; the callback may have come already.
inline bool Call::settle(void* request) {
  // Nothing was posted in the call, whose scope was the last: the operation waits inside UCP, where
  // only protocols v2 show its start (ucp-shim/dispatch.hpp).
  if (detail::posts(family_) && uct::thread_state.inner_idle) {
    uct::defer(uct::request_of_handle(request), {id_, log::Origin::ucp, log::Route::call});
  }
  if (tracked_ == nullptr) [[unlikely]] {
    if (tracking_ == Tracking::callback) {
      forget_active(request);
    }
    if (counted_ != kNotCounted) count_unseen_receive(counted_);
    return false;
  }
  const bool own_request = (parameters_.op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) != 0;
  if (!detail::leave_to_callback(*tracked_, request, own_request)) [[likely]] {
    return false;
  }
  end_ = {tracked_->status, tracked_->received};
  if (uct::any_deferred()) [[unlikely]] {
    uct::forget_deferred(uct::request_of_handle(request));
  }
  log::release_slot(log::slot_of(tracked_));
  return true;
}

// Returns how many words there are. Inlined, too: a stack belongs to the function that takes it.
inline std::size_t Call::take_extras(const Operation& operation, log::ExtraWords& extra) {
  const bool has_data = operation.bytes != 0 || !operation.bytes_known;
  extra.has_memory =
      log::wants(log::kWantMemory) && add_memory(*lane_,
                                                 {id_, has_data ? operation.buffer : nullptr,
                                                  parameters_known_ ? &parameters_ : nullptr},
                                                 extra);
  std::size_t count = extra.has_memory ? 1 : 0;
  flags_ |= extra.has_memory ? log::UcpOperation::kMemory : 0;
  const std::uint32_t stack = stacks::of_ucp_operation(*lane_);
  if (stack != 0) extra.words[count++] = stack;
  return count;
}

inline void Call::record(ucs_status_t status, const Operation& operation, std::uint64_t end_tick) {
  log::ExtraWords extra;  // set only as far as it is used
  std::size_t extras = 0;
  if (log::wants(log::kWantStacks | log::kWantMemory)) [[unlikely]] {
    extras = take_extras(operation, extra);
  }
  const std::size_t bytes = sizeof(log::UcpOperation) + extras * sizeof(std::uint64_t);
  auto* record = static_cast<log::UcpOperation*>(
      lane_->reserve_bytes(log::Stream::events, log::DropKind::ucp, bytes));
  if (record == nullptr) [[unlikely]] {
    return;
  }
  const bool untracked = tracking_ == Tracking::callback && tracked_ == nullptr;
  const unsigned flags = flags_ | (operation.bytes_known ? 0 : log::UcpOperation::kUnknownLength) |
                         (untracked ? log::UcpOperation::kUntracked : 0) |
                         (operation.posted_tick != 0 ? log::UcpOperation::kProbed : 0) |
                         (tracking_ == Tracking::implicit ? log::UcpOperation::kImplicit : 0);
  record->id = id_;
  record->start_tick = start_;
  record->duration_ticks = end_tick - start_;
  record->handle = operation.handle;
  record->bytes = operation.bytes;
  record->tag = operation.tag;
  record->tag_mask = operation.tag_mask;
  record->buffer = reinterpret_cast<std::uint64_t>(operation.buffer);
  if (family_ <= log::UcpFamily::tag_receive) {
    record->posted_tick = operation.posted_tick != 0 ? operation.posted_tick : start_;
  } else {
    const uct::Context& context = uct::thread_state.context;
    record->origin = context.kind == log::Origin::arrival ? context.origin : 0;
  }
  if (extras != 0) [[unlikely]] {
    auto* word = reinterpret_cast<std::uint64_t*>(record + 1);
    for (std::size_t i = 0; i < extras; ++i) word[i] = extra.words[i];
    lane_->counters().memory_words += extra.has_memory;
  }
  log::publish(record, log::RecordType::ucp_operation, bytes / 8,
               static_cast<std::uint16_t>(static_cast<unsigned>(function_) | flags << 8),
               static_cast<std::uint32_t>(status));
}

// The original call of a receive. One that is only counted has no context of its own.
template <bool kCountsMemory, typename Post>
UCTRACE_HOT inline ucs_status_ptr_t post_receive(const Call& call, Post post) {
  if (kCountsMemory && call.id() == 0) return post();
  const uct::ContextScope scope({call.id(), log::Origin::ucp, log::Route::call});
  return post();
}

}  // namespace uctrace::ucp
