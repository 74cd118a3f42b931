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

// Stands in for the caller's completion, so that every operation has its own end. Lives in a Slot.
struct TrackedCompletion {
  uct_completion_t own;  // what the transport gets
  uct_completion_t* original;
  log::Id operation;
  log::Id origin;
  log::Origin origin_kind;
};

void on_completion(uct_completion_t* own);

class Post {
 public:
  Post(uct_iface_h iface, uct_ep_h endpoint, log::UctOp op)
      : interface_(find_interface(iface)),
        endpoint_(endpoint),
        op_(op),
        outer_busy_(thread_state.busy),
        nested_(endpoint != nullptr && outer_busy_ == endpoint) {
    if (!nested_) {
      thread_state.busy = endpoint;
      start_ = log::now();
    }
  }

  const uct_iface_ops_t& original() const { return interface_->original; }

  // The completion to hand down instead of the caller's; NULL stays NULL, and where no slot is
  // ready the caller's own goes through untracked.
  uct_completion_t* track(uct_completion_t* completion);

  // Takes note of the result and returns it: a ucs_status_t, or the length of a bcopy.
  template <typename Status>
  Status done(Status status, const Handed& handed) {
    if (!nested_) {
      finish(status < 0 ? static_cast<ucs_status_t>(status)
                        : (is_length<Status> ? UCS_OK : static_cast<ucs_status_t>(status)),
             handed);
    }
    return status;
  }

 private:
  template <typename Status>
  static constexpr bool is_length = !std::is_same_v<Status, ucs_status_t>;

  void finish(ucs_status_t status, const Handed& handed);
  void count(log::LaneCounters& counters, ucs_status_t status) const;
  void record(log::Lane& lane, ucs_status_t status, const Handed& handed);

  Interface* interface_;
  uct_ep_h endpoint_;
  log::UctOp op_;
  uct_ep_h outer_busy_;
  bool nested_;
  bool has_completion_ = false;
  TrackedCompletion* tracked_ = nullptr;
  log::Id id_ = 0;
  std::uint64_t start_ = 0;
};

}  // namespace uctrace::uct
