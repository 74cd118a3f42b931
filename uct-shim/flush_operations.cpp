// Operations that order or complete others, or check whether a peer is alive. The flags of a flush
// are kept: UCP discards an endpoint by a flush that cancels.
#include "uct-shim/operations.hpp"

namespace uctrace::uct {

using log::UctOp;

namespace {

Handed with_flags(const std::uint64_t& flags) {
  return {.header_words = static_cast<std::uint8_t>(flags != 0), .header = &flags};
}

}  // namespace

ucs_status_t ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::ep_flush);
  const std::uint64_t kept = flags;
  const ucs_status_t status = post.original().ep_flush(ep, flags, post.track(completion));
  return post.done(status, with_flags(kept));
}

ucs_status_t ep_fence(uct_ep_h ep, unsigned flags) {
  Post post(ep->iface, ep, UctOp::ep_fence);
  return post.done(post.original().ep_fence(ep, flags), {});
}

ucs_status_t ep_check(uct_ep_h ep, unsigned flags, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::ep_check);
  return post.done(post.original().ep_check(ep, flags, post.track(completion)), {});
}

ucs_status_t iface_flush(uct_iface_h iface, unsigned flags, uct_completion_t* completion) {
  Post post(iface, nullptr, UctOp::iface_flush);
  const std::uint64_t kept = flags;
  const ucs_status_t status = post.original().iface_flush(iface, flags, post.track(completion));
  return post.done(status, with_flags(kept));
}

}  // namespace uctrace::uct
