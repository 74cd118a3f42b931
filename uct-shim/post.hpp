// One UCT operation on its way through a hook: what every hook does before and after the original.
//
//   Post post(ep->iface, ep, UctOp::put_short);
//   ucs_status_t status = post.original().ep_put_short(...);
//   return post.done(status, {.bytes = length, ...});
//
// Cost: two clock reads, one table look-up, the record's stores.
#pragma once

#include <uct/api/uct.h>

#include "event-log/recorder.hpp"
#include "uct-shim/carried.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

// What the caller handed to UCT. Addresses are 0 where the operation has none.
struct Handed {
  std::uint64_t bytes = 0;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
  std::uint8_t am_id = 0;
  std::uint8_t header_words = 0;
  std::uint16_t header_bytes = 0;
  const std::uint64_t* header = nullptr;
};

// Who is told of an operation's end and who posted it may do so at the same time, on two threads.
// The second one of them gives the slot back.
enum class RendezvousState : std::uint8_t { none, in_call, returned, fired };

// Stands in for the caller's completion, so that every operation has its own end. Lives in a Slot.
struct TrackedCompletion {
  uct_completion_t own;  // what the transport gets
  uct_completion_t* original;
  log::Id operation;
  log::Id origin;
  log::Origin origin_kind;
  log::Route route;
  RendezvousState state;  // `none`: not a rendezvous. Accessed with __atomic builtins
  void* rendezvous;       // the transport's handle, by which it may be cancelled
};

void on_completion(uct_completion_t* own);

// The end of an operation, as a record of its own.
void record_completion(log::Lane& lane, log::Id operation, ucs_status_t status);

class Post {
 public:
  Post(uct_iface_h iface, uct_ep_h endpoint, log::UctOp op)
      : iface_(iface),
        interface_(find_open_interface(iface)),
        endpoint_(endpoint),
        op_(op),
        outer_(posting_around(this)),
        passes_through_(interface_ == nullptr || outer_.covers(interface_, endpoint)) {
    if (!passes_through_) {
      parent_ = outer_.busy != nullptr ? name_outer() : 0;
      const void* const whole = interface_;
      thread_state.posting = {endpoint != nullptr ? endpoint : whole, this, 0, false};
      start_ = log::now();
    }
  }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  // Tells the request that the operation is for, where UCP handed down a pointer into it: another
  // way to know for whom it is, when this thread does not know.
  void is_for(Request request) {
    if (!context_->definite() && find_carried(request, found_)) {
      context_ = &found_;
      request_ = request;
    }
  }

  const uct_iface_ops_t& original() const {
    return interface_ != nullptr ? interface_->original : iface_->ops;
  }

  // True of what is no operation of its own: a nested one on the busy endpoint, and one on an
  // interface that nobody opened through UCT. UCP has such interfaces for itself, and hands on to a
  // real one what is done there; a rebuilt UCX shows them to us. Nothing may be changed of these.
  bool passes_through() const { return passes_through_; }

  // Not of an operation that passes through.
  const Interface& interface() const { return *interface_; }

  // The completion to hand down instead of the caller's; NULL stays NULL, and where no slot is
  // ready the caller's own goes through untracked.
  uct_completion_t* track(uct_completion_t* completion);

  // The same for a rendezvous, whose handle is given to settle() as soon as it is known.
  uct_completion_t* track_rendezvous(uct_completion_t* completion);
  void settle(void* handle);

  // An id for an operation whose end is recorded without a completion; 0 if nobody could tell.
  log::Id identify();
  void forget_identity() { has_end_ = false; }

  // Takes note of the result and returns it: a ucs_status_t, or the length of a bcopy.
  template <typename Status>
  Status done(Status status, const Handed& handed) {
    if (!passes_through_) {
      finish(status < 0 ? static_cast<ucs_status_t>(status)
                        : (is_length<Status> ? UCS_OK : static_cast<ucs_status_t>(status)),
             handed);
    }
    return status;
  }

 private:
  template <typename Status>
  static constexpr bool is_length = !std::is_same_v<Status, ucs_status_t>;

  // The operation in progress around what is at `frame`. One that is not around it in the stack was
  // left by a long jump.
  static Posting posting_around(const void* frame) {
    const Posting& posting = thread_state.posting;
    return posting.busy != nullptr && frame < posting.frame ? posting : Posting{};
  }
  log::Id name_outer();
  void take_identity();
  void finish(ucs_status_t status, const Handed& handed);
  void count(log::LiveCounters& counters, ucs_status_t status) const;
  void record(log::Lane& lane, ucs_status_t status, const Handed& handed, std::uint64_t end);

  uct_iface_h iface_;
  Interface* interface_;
  uct_ep_h endpoint_;
  log::UctOp op_;
  Posting outer_;
  bool passes_through_;
  const Context* context_ = &thread_state.context;
  Context found_;  // valid where context_ points to it, and so is request_
  Request request_;
  bool last_of_flush_ = false;
  bool has_completion_ = false;
  bool has_end_ = false;  // which is recorded under id_
  bool named_ = false;    // as Posting::named, once it is done
  TrackedCompletion* tracked_ = nullptr;
  log::Id id_ = 0, parent_ = 0;
  std::uint64_t start_ = 0;
};

// Forgets the rendezvous with this handle, which its transport will not complete any more.
void cancel_rendezvous(void* handle);

}  // namespace uctrace::uct
