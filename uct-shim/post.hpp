// One UCT operation on its way through a hook: the common work before and after the original.
//
//   Post post(ep->iface, ep, UctOp::put_short);
//   ucs_status_t status = post.original().ep_put_short(...);
//   return post.done(status, {.bytes = length, ...});
//
// Cost: one or two clock reads, one table look-up, the record's stores.
#pragma once

#include <uct/api/uct.h>

#include <type_traits>

#include "call-stacks/stacks.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/deferred.hpp"
#include "uct-shim/interfaces.hpp"
#include "uct-shim/left_out_operations.hpp"

namespace uctrace::uct {

// What the caller passed to UCT. An address is 0 if the operation has none.
struct Handed {
  std::uint64_t bytes = 0;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
  std::uint8_t am_id = 0;
  std::uint8_t header_words = 0;
  std::uint16_t header_bytes = 0;
  const std::uint64_t* header = nullptr;
};

// The completion of an operation and the return of its post may happen at the same time, on two
// threads. The second of them releases the slot.
enum class RendezvousState : std::uint8_t { none, in_call, returned, fired };

// Replaces the caller's completion, so that every operation has its own end. Lives in a Slot.
struct TrackedCompletion {
  uct_completion_t own;  // what the transport gets
  uct_completion_t* original;
  log::Id operation;
  log::Id origin;
  log::Origin origin_kind;
  log::Route route;
  RendezvousState state;  // `none`: not a rendezvous. Accessed with __atomic builtins
  void* rendezvous;       // the transport's handle, for a cancellation
};

void on_completion(uct_completion_t* own);

// The end of an operation, as a record of its own.
void record_completion(log::Lane& lane, log::Id operation, ucs_status_t status);

// By transport, device and operation.
UCTRACE_HOT inline void count_operation(const Interface& interface, log::UctOp op,
                                        std::uint64_t bytes) {
  const std::uint64_t subject = static_cast<std::uint64_t>(op) << log::kCounterOpShift;
  log::count(log::CounterKind::interface, interface.counted_as | subject, bytes);
}

// Whether `frame` is inside an operation in progress. If that operation is not above it in the
// stack, a long jump left it.
UCTRACE_HOT inline bool is_inside_posting(const void* frame) {
  const Posting& posting = thread_state.posting;
  return posting.busy != nullptr && frame < posting.frame;
}

// `interface` may be nullptr.
inline const uct_iface_ops_t& original_of(const Interface* interface, uct_iface_h iface) {
  return interface != nullptr ? interface->original : iface->ops;
}

// Its members stay in registers: nothing in a short operation takes its address.
//
// `kMayCount` is false if the hook knows that events are recorded and nothing is counted
// (log::only_records()): that saves three tests here.
class Post {
 public:
  template <bool kMayCount = true>
  UCTRACE_HOT Post(uct_iface_h iface, uct_ep_h endpoint, log::UctOp op,
                   std::bool_constant<kMayCount> = {})
      : iface_(iface),
        interface_(find_open_interface(iface)),
        endpoint_(endpoint),
        op_(op),
        frame_(__builtin_dwarf_cfa()),
        is_inside_(is_inside_posting(frame_)) {
    if (is_inside_) [[unlikely]] {
      outer_ = thread_state.posting;
    }
    const bool is_part = is_inside_ && outer_.covers(interface_, endpoint);
    way_ = interface_ == nullptr || is_part ? Way::through : Way::recorded;
    if (way_ == Way::recorded) [[likely]] {
      begin<kMayCount>();
    }
  }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  // Tells the operation's request, if UCP passed a pointer into it: another way to find the context
  // if the thread has none.
  template <bool kMayCount = true>
  void is_for(Request request) {
    if (kMayCount && log::counts_only()) return;
    Context found;
    if (!context().definite() && find_deferred(request, found)) {
      found_ = found;
      is_found_ = true;
      request_ = request;
    }
  }

  const uct_iface_ops_t& original() const { return original_of(interface_, iface_); }

  // True if it is left out, or not a separate operation: nested on the busy endpoint, or on an
  // interface that was not opened through UCT. UCP has such interfaces for itself and forwards
  // their operations to a real one; a rebuilt UCX shows them to us. These must not be changed.
  bool passes_through() const { return way_ != Way::recorded; }

  // Not for an operation that passes through.
  const Interface& interface() const { return *interface_; }

  // The completion to pass down instead of the caller's. NULL stays NULL; if no slot is ready, the
  // caller's own is passed down untracked.
  uct_completion_t* track(uct_completion_t* completion);

  // The same for a rendezvous; call settle() with its handle as soon as it is known.
  uct_completion_t* track_rendezvous(uct_completion_t* completion);
  void settle(void* handle);

  // An id for an operation whose end is recorded without a completion; 0 without a lane, or while
  // operations are only counted.
  log::Id identify();
  void forget_identity() { has_end_ = false; }

  // Takes note of the result and returns it: a ucs_status_t, or the length of a bcopy.
  template <bool kMayCount = true, typename Status>
  UCTRACE_HOT Status done(Status status, const Handed& handed) {
    if (way_ == Way::recorded) [[likely]] {
      finish<kMayCount>(status < 0
                            ? static_cast<ucs_status_t>(status)
                            : (kIsLength<Status> ? UCS_OK : static_cast<ucs_status_t>(status)),
                        handed);
    } else {
      done<kMayCount>(status);
    }
    return status;
  }
  // Of one that passes through.
  template <bool kMayCount = true, typename Status>
  UCTRACE_HOT Status done(Status status) {
    if (kMayCount && way_ == Way::left_out) {
      thread_state.posting.busy = nullptr;
      end_left_out(*lane_, status);
    }
    return status;
  }

 private:
  template <bool kMayCount>
  UCTRACE_HOT void begin() {
    const void* const whole = interface_;
    const void* const busy = endpoint_ != nullptr ? endpoint_ : whole;
    if (kMayCount && !log::only_records()) [[unlikely]] {
      const bool may = may_be_left_out(op_) && log::leaves_out() && !is_inside_;
      lane_ = may ? try_to_leave_out() : nullptr;
      const bool left_out = lane_ != nullptr;
      if (left_out || log::counts_only()) {
        way_ = left_out ? Way::left_out : Way::recorded;
        thread_state.posting = {busy, frame_, 0, false};
        return;
      }
    }
    lane_ = log::lane();
    if (lane_ != nullptr) [[likely]] {
      lane_->end_shared_tick();
    }
    if (is_inside_) [[unlikely]] {
      parent_ = outer_.id != 0 ? outer_.id : new_id(lane_);
      outer_.id = parent_;  // it finds the id when outer_ is restored
      outer_.named = true;
    }
    thread_state.posting = {busy, frame_, 0, false};
    start_ = log::now();
  }
  // 0 without a lane.
  static log::Id new_id(log::Lane* lane) {
    return lane != nullptr ? log::new_id(*lane, log::IdKind::uct_operation) : 0;
  }
  // The operation's context.
  UCTRACE_HOT Context context() const {
    Context context = thread_state.context;
    if (is_found_) [[unlikely]] {
      context = found_;
    }
    return context;
  }
  UCTRACE_HOT void take_identity();
  UCTRACE_HOT bool is_over_at_once(ucs_status_t status, const Handed& handed) const;
  template <bool kMayCount>
  UCTRACE_HOT void finish(ucs_status_t status, const Handed& handed);
  UCTRACE_HOT void finish_tracked(ucs_status_t status);
  UCTRACE_HOT void count(log::LiveCounters& counters, ucs_status_t status) const;

  struct End {
    std::uint64_t tick;
    bool one_tick;  // the start's tick
  };
  UCTRACE_HOT void record(log::Lane& lane, ucs_status_t status, const Handed& handed, End end);

  log::Lane* lane_ = nullptr;  // as it was at the start: the call may fork
  uct_iface_h iface_;
  Interface* interface_;
  uct_ep_h endpoint_;
  log::UctOp op_;
  const void* frame_;  // of the hook
  bool is_inside_;     // inside another operation: outer_ says which
  Posting outer_;
  enum class Way : std::uint8_t { recorded, through, left_out } way_;  // recorded or counted
  bool is_found_ = false;  // found_ is its context, of request_
  Context found_{};
  Request request_ = nullptr;
  bool last_of_flush_ = false;
  bool has_completion_ = false;
  bool has_end_ = false;  // recorded under id_
  bool named_ = false;    // as Posting::named, once it is done
  TrackedCompletion* tracked_ = nullptr;
  log::Id id_ = 0, parent_ = 0;
  std::uint64_t start_ = 0;
};

// The parts of an operation that tell where its data is.
struct Addresses {
  log::UctOp op;
  ucs_status_t status;
  std::uint64_t local, remote;
};

// Sets the first extra word to the memory of the addresses. False: there is none, because the data
// can only be in the memory of the UCP operation, or nothing was moved.
bool add_memory(log::Lane& lane, const Interface& interface, Addresses addresses,
                log::ExtraWords& extra);

// Forgets the rendezvous with this handle, which its transport will not complete any more.
void cancel_rendezvous(void* handle);

namespace detail {

// Storing a few bytes into shared memory takes less time than reading the clock. Above this size
// the copy is visible.
inline constexpr std::uint64_t kShortBytes = 256;

constexpr bool is_short(log::UctOp op) {
  return op == log::UctOp::am_short || op == log::UctOp::am_short_iov ||
         op == log::UctOp::put_short || op == log::UctOp::tag_eager_short;
}

}  // namespace detail

inline void Post::take_identity() {
  const Posting& posting = thread_state.posting;
  if (posting.frame == frame_) {  // else a long jump left an operation inside
    id_ = posting.id;
    named_ = posting.named;
  }
  if (is_inside_) [[unlikely]] {
    thread_state.posting = outer_;
  } else {
    thread_state.posting.busy = nullptr;
  }
}

// Whether it is complete and so short that its end is not worth a clock reading. Posts inside are
// part of it and make it longer.
inline bool Post::is_over_at_once(ucs_status_t status, const Handed& handed) const {
  return detail::is_short(op_) && interface_->in_memory && status != UCS_INPROGRESS &&
         handed.bytes <= detail::kShortBytes && !named_;
}

// For an operation with a completion or an id.
inline void Post::finish_tracked(ucs_status_t status) {
  if (is_found_ && last_of_flush_ && status >= 0) {
    forget_deferred(request_);  // all its lanes are flushed: from here on the completion tells the
                                // context
  }
  if (tracked_ != nullptr && status != UCS_INPROGRESS) {
    log::release_slot(log::slot_of(tracked_));  // complete at return: the transport never saw it
    tracked_ = nullptr;
    has_end_ = false;
  }
  has_end_ = has_end_ && status >= 0;
  if (!has_end_ && !named_) {
    id_ = 0;
  }
}

template <bool kMayCount>
inline void Post::finish(ucs_status_t status, const Handed& handed) {
  take_identity();
  if (kMayCount && log::counts()) [[unlikely]] {
    if (status >= 0) count_operation(*interface_, op_, handed.bytes);
    if (log::counts_only()) return;
  }
  const bool one_tick = is_over_at_once(status, handed);
  const std::uint64_t end = one_tick ? start_ : log::now();
  // A wire-up message is sent by whichever request comes first, and is not part of it.
  const bool connects = interface_->of_ucp && wire::connects(handed.am_id);
  if (!connects) [[likely]] {
    thread_state.posted |= status >= 0;
    thread_state.refused |= status == UCS_ERR_NO_RESOURCE;
  }
  if (id_ != 0 || has_completion_) {
    finish_tracked(status);
  }
  log::Lane* lane = log::lane();
  if (lane == nullptr) [[unlikely]] {
    log::count_without_lane(log::DropKind::uct);
    return;
  }
  count(lane->counters(), status);
  record(*lane, status, handed, {end, one_tick});
}

inline void Post::record(log::Lane& lane, ucs_status_t status, const Handed& handed, End end) {
  unsigned flags = static_cast<unsigned>(handed.header_words) << log::UctOperation::kHeaderShift;
  std::size_t words = sizeof(log::UctOperation) / 8 + handed.header_words;
  const auto add_if = [&](bool has, unsigned flag) {
    flags |= has ? flag : 0;
    words += has;
  };
  add_if(handed.local != 0, log::UctOperation::kHasLocal);
  add_if(handed.remote != 0, log::UctOperation::kHasRemote);
  const bool is_alone = (id_ | parent_) == 0;
  if (!is_alone) [[unlikely]] {
    add_if(id_ != 0, log::UctOperation::kHasId);
    add_if(parent_ != 0, log::UctOperation::kHasParent);
    flags |= id_ != 0 && !has_end_ ? log::UctOperation::kNoEnd : 0;
  }
  // Uninitialised beyond the words in use.
  log::ExtraWords extra;
  std::size_t extras = 0;
  if (log::wants(log::kWantAllStacks | log::kWantMemory)) [[unlikely]] {
    extras = add_memory(lane, *interface_, {op_, status, handed.local, handed.remote}, extra);
    const std::uint32_t stack = stacks::of_uct_operation(lane);
    if (stack != 0) extra.words[extras++] = stack;
  }
  words += extras;
  auto* record = static_cast<log::UctOperation*>(
      lane.reserve_bytes(log::Stream::events, log::DropKind::uct, words * 8));
  if (record == nullptr) [[unlikely]] {
    return;
  }
  const Context context = this->context();
  record->op = op_;
  record->am_id = handed.am_id;
  record->flags = static_cast<std::uint8_t>(flags);
  record->source = log::UctOperation::source_of(context.kind, context.route);
  record->marks = end.one_tick ? log::UctOperation::kOneTick : 0;
  record->protocol = thread_state.protocol;
  record->header_bytes = handed.header_bytes;
  record->start_tick = start_;
  record->duration_ticks = end.tick - start_;
  record->endpoint = reinterpret_cast<std::uint64_t>(endpoint_);
  record->bytes = handed.bytes;
  record->origin = context.origin;
  auto* word = reinterpret_cast<std::uint64_t*>(record + 1);
  if (!is_alone && id_ != 0) *word++ = id_;
  if (handed.local != 0) *word++ = handed.local;
  if (handed.remote != 0) *word++ = handed.remote;
  if (!is_alone && parent_ != 0) *word++ = parent_;
  wire::copy_words(word, handed.header, handed.header_words);
  if (extras != 0) [[unlikely]] {
    for (std::size_t i = 0; i < extras; ++i) word[handed.header_words + i] = extra.words[i];
    record->marks |= extra.has_memory ? log::UctOperation::kMemory : 0;
    lane.counters().memory_words += extra.has_memory;
  }
  log::publish(record, log::RecordType::uct_operation, words, interface_->id,
               static_cast<std::uint32_t>(status));
}

inline void Post::count(log::LiveCounters& counters, ucs_status_t status) const {
  if (status == UCS_ERR_NO_RESOURCE) {
    ++counters.uct_no_resource;
  } else if (status < 0) {
    ++counters.uct_errors;
  } else {
    ++counters.uct_posted_ok;
    if (status == UCS_INPROGRESS) {
      ++counters.uct_inprogress;
      counters.uct_without_handle += !has_end_;
      counters.uct_untracked += !has_end_ && has_completion_;
    }
  }
}

}  // namespace uctrace::uct
