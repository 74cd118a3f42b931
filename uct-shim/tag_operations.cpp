// Tag offload, the sending side: messages that the receiving interface itself matches.
#include <string.h>

#include "uct-shim/operations.hpp"

namespace uctrace::uct {

using log::UctOp;

namespace {

constexpr std::uint8_t kAnnouncement = static_cast<std::uint8_t>(wire::AmId::rndv_rts);

// Tag and immediate data: the latter marks a message that needs an answer.
struct EagerHeader {
  std::uint64_t words[2];
  std::uint8_t count;

  EagerHeader(uct_tag_t tag, std::uint64_t immediate)
      : words{tag, immediate}, count(immediate != 0 ? 2 : 1) {}
};

}  // namespace

ucs_status_t tag_eager_short(uct_ep_h ep, uct_tag_t tag, const void* data, std::size_t length) {
  Post post(ep->iface, ep, UctOp::tag_eager_short);
  const ucs_status_t status = post.original().ep_tag_eager_short(ep, tag, data, length);
  return post.done(status,
                   {.bytes = length, .local = address_of(data), .header_words = 1, .header = &tag});
}

ssize_t tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                        uct_pack_callback_t pack, void* argument, unsigned flags) {
  Post post(ep->iface, ep, UctOp::tag_eager_bcopy);
  post.is_for(request_at(argument));
  const EagerHeader header(tag, immediate);
  const ssize_t length =
      post.original().ep_tag_eager_bcopy(ep, tag, immediate, pack, argument, flags);
  return post.done(
      length,
      {.bytes = length_or_none(length), .header_words = header.count, .header = header.words});
}

ucs_status_t tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                             const uct_iov_t* iov, std::size_t count, unsigned flags,
                             uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::tag_eager_zcopy);
  const EagerHeader header(tag, immediate);
  const ucs_status_t status = post.original().ep_tag_eager_zcopy(ep, tag, immediate, iov, count,
                                                                 flags, post.track(completion));
  return post.done(status, {.bytes = total_bytes(iov, count),
                            .local = first_address(iov, count),
                            .header_words = header.count,
                            .header = header.words});
}

// The interfaces perform the rendezvous. If no posted receive takes it, the receiver's UCP does: it
// then gets the sender's buffer and ids, as from UCP's own RTS.
ucs_status_ptr_t tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag, const void* header,
                                unsigned header_length, const uct_iov_t* iov, std::size_t count,
                                unsigned flags, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::tag_rndv_zcopy);
  std::uint64_t words[] = {tag, 0, 0, first_address(iov, count), total_bytes(iov, count)};
  if (header_length >= 2 * sizeof words[0]) {
    memcpy(words + 1, header, 2 * sizeof words[0]);  // ep_id, req_id
  }
  ucs_status_ptr_t const handle = post.original().ep_tag_rndv_zcopy(
      ep, tag, header, header_length, iov, count, flags, post.track_rendezvous(completion));
  post.settle(handle);
  post.done(UCS_PTR_IS_ERR(handle) ? UCS_PTR_STATUS(handle) : UCS_INPROGRESS,
            {.bytes = words[4],
             .local = words[3],
             .am_id = kAnnouncement,
             .header_words = 5,
             .header = words});
  return handle;
}

ucs_status_t tag_rndv_cancel(uct_ep_h ep, void* handle) {
  Post post(ep->iface, ep, UctOp::tag_rndv_cancel);
  const ucs_status_t status = post.original().ep_tag_rndv_cancel(ep, handle);
  if (status == UCS_OK) {
    cancel_rendezvous(handle);
  }
  return post.done(status, {});
}

ucs_status_t tag_rndv_request(uct_ep_h ep, uct_tag_t tag, const void* header,
                              unsigned header_length, unsigned flags) {
  Post post(ep->iface, ep, UctOp::tag_rndv_request);
  std::uint64_t words[log::kMaxHeaderWords]{};
  const std::size_t available = header_length / sizeof words[0];
  const auto keep = static_cast<std::uint8_t>(
      available < log::kMaxHeaderWords ? available : log::kMaxHeaderWords);
  wire::copy_words(words, header, keep);
  const ucs_status_t status =
      post.original().ep_tag_rndv_request(ep, tag, header, header_length, flags);
  return post.done(
      status,
      {.bytes = header_length, .am_id = kAnnouncement, .header_words = keep, .header = words});
}

}  // namespace uctrace::uct
