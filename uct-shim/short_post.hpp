// The most frequent UCT operations while they are only counted or left out, as Post does it for
// all. It is false for an operation inside another one or one that passes through: the caller then
// uses Post.
#pragma once

#include "uct-shim/post.hpp"

namespace uctrace::uct {

class ShortPost {
 public:
  UCTRACE_HOT explicit ShortPost(uct_ep_h endpoint)
      : interface_(find_open_interface(endpoint->iface)) {
    const void* const frame = __builtin_dwarf_cfa();
    if (is_inside_posting(frame)) [[unlikely]]
      interface_ = nullptr;
    if (interface_ == nullptr) [[unlikely]]
      return;
    thread_state.posting.busy = endpoint;
    thread_state.posting.frame = frame;
  }
  ShortPost(const ShortPost&) = delete;
  ShortPost& operator=(const ShortPost&) = delete;

  explicit operator bool() const { return interface_ != nullptr; }
  const uct_iface_ops_t& original() const { return interface_->original; }

  // Each takes note of the result and returns it: a ucs_status_t, or the length of a bcopy.
  template <typename Status>
  UCTRACE_HOT Status counted(Status status, log::UctOp op, std::uint64_t bytes) {
    thread_state.posting.busy = nullptr;
    if (status >= 0) [[likely]]
      count_operation(*interface_, op, bytes);
    return status;
  }
  template <typename Status>
  UCTRACE_HOT Status left_out(log::Lane& lane, Status status) {
    thread_state.posting.busy = nullptr;
    return end_left_out(lane, status);
  }

 private:
  Interface* interface_;
};

}  // namespace uctrace::uct
