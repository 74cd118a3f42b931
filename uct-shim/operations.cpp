// The hooks of UCT's data operations: one function per slot of uct_iface_ops_t that moves or orders
// data. iface_progress and iface_fence are never touched: transports compare or cache them.
#include "uct-shim/pending.hpp"
#include "uct-shim/post.hpp"

namespace uctrace::uct {

namespace {

using log::UctOp;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

std::uint64_t total_bytes(const uct_iov_t* iov, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<std::uint64_t>(iov[i].length) * iov[i].count;
  }
  return bytes;
}

std::uint64_t first_address(const uct_iov_t* iov, std::size_t count) {
  return count > 0 ? address_of(iov[0].buffer) : 0;
}

// Words of `bytes` of header worth keeping for this AM id.
std::uint8_t words_to_keep(std::uint8_t am_id, std::uint64_t bytes) {
  const std::uint64_t available = bytes / sizeof(std::uint64_t);
  const std::uint8_t wanted = wire::shape_of(am_id).words;
  return available < wanted ? static_cast<std::uint8_t>(available) : wanted;
}

// --- put and get ---------------------------------------------------------------------------------

ucs_status_t put_short(uct_ep_h ep, const void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::put_short);
  const ucs_status_t status = post.original().ep_put_short(ep, buffer, length, remote, rkey);
  return post.done(status, {.bytes = length, .local = address_of(buffer), .remote = remote});
}

ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void* argument, std::uint64_t remote,
                  uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::put_bcopy);
  const ssize_t length = post.original().ep_put_bcopy(ep, pack, argument, remote, rkey);
  return post.done(
      length, {.bytes = length > 0 ? static_cast<std::uint64_t>(length) : 0, .remote = remote});
}

ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t rkey, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::put_zcopy);
  const ucs_status_t status =
      post.original().ep_put_zcopy(ep, iov, count, remote, rkey, post.track(completion));
  return post.done(
      status,
      {.bytes = total_bytes(iov, count), .local = first_address(iov, count), .remote = remote});
}

ucs_status_t get_short(uct_ep_h ep, void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::get_short);
  const ucs_status_t status = post.original().ep_get_short(ep, buffer, length, remote, rkey);
  return post.done(status, {.bytes = length, .local = address_of(buffer), .remote = remote});
}

ucs_status_t get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack, void* argument,
                       std::size_t length, std::uint64_t remote, uct_rkey_t rkey,
                       uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::get_bcopy);
  const ucs_status_t status = post.original().ep_get_bcopy(ep, unpack, argument, length, remote,
                                                           rkey, post.track(completion));
  return post.done(status, {.bytes = length, .remote = remote});
}

ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t rkey, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::get_zcopy);
  const ucs_status_t status =
      post.original().ep_get_zcopy(ep, iov, count, remote, rkey, post.track(completion));
  return post.done(
      status,
      {.bytes = total_bytes(iov, count), .local = first_address(iov, count), .remote = remote});
}

// --- active messages -----------------------------------------------------------------------------

ucs_status_t am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header, const void* payload,
                      unsigned length) {
  Post post(ep->iface, ep, UctOp::am_short);
  const ucs_status_t status = post.original().ep_am_short(ep, id, header, payload, length);
  // UCP's control messages go on in the payload: RTS, RTR.
  std::uint64_t words[1 + wire::kMaxWords] = {header};
  const std::uint8_t keep = words_to_keep(id, sizeof header + length);
  wire::copy_words(words + 1, payload, keep - (keep > 0));
  return post.done(status, {.bytes = sizeof header + length,
                            .local = address_of(payload),
                            .am_id = id,
                            .header_words = keep,
                            .header_bytes = sizeof header,
                            .header = words});
}

ucs_status_t am_short_iov(uct_ep_h ep, std::uint8_t id, const uct_iov_t* iov, std::size_t count) {
  Post post(ep->iface, ep, UctOp::am_short_iov);
  const ucs_status_t status = post.original().ep_am_short_iov(ep, id, iov, count);
  return post.done(
      status, {.bytes = total_bytes(iov, count), .local = first_address(iov, count), .am_id = id});
}

// Looks at the header just after it was packed: the only moment when a bcopy's content is visible.
struct PackCapture {
  uct_pack_callback_t pack;
  void* argument;
  std::uint8_t am_id;
  std::uint8_t header_words;
  std::uint64_t header[log::kMaxHeaderWords];
};

std::size_t pack_and_capture(void* destination, void* argument) {
  auto* capture = static_cast<PackCapture*>(argument);
  const std::size_t length = capture->pack(destination, capture->argument);
  capture->header_words = words_to_keep(capture->am_id, length);
  wire::copy_words(capture->header, destination, capture->header_words);
  return length;
}

ssize_t am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack, void* argument,
                 unsigned flags) {
  Post post(ep->iface, ep, UctOp::am_bcopy);
  PackCapture capture{pack, argument, id, 0, {}};
  const ssize_t length = post.original().ep_am_bcopy(ep, id, pack_and_capture, &capture, flags);
  return post.done(length, {.bytes = length > 0 ? static_cast<std::uint64_t>(length) : 0,
                            .am_id = id,
                            .header_words = capture.header_words,
                            .header = capture.header});
}

ucs_status_t am_zcopy(uct_ep_h ep, std::uint8_t id, const void* header, unsigned header_length,
                      const uct_iov_t* iov, std::size_t count, unsigned flags,
                      uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::am_zcopy);
  // Copied first: the caller may reuse its header as soon as the operation is posted.
  std::uint64_t words[log::kMaxHeaderWords];
  const std::uint8_t keep = words_to_keep(id, header_length);
  wire::copy_words(words, header, keep);
  const ucs_status_t status = post.original().ep_am_zcopy(ep, id, header, header_length, iov, count,
                                                          flags, post.track(completion));
  return post.done(status, {.bytes = header_length + total_bytes(iov, count),
                            .local = first_address(iov, count),
                            .am_id = id,
                            .header_words = keep,
                            .header_bytes = static_cast<std::uint16_t>(header_length),
                            .header = words});
}

// --- atomics: sizes are bytes --------------------------------------------------------------------

ucs_status_t cswap64(uct_ep_h ep, std::uint64_t compare, std::uint64_t swap, std::uint64_t remote,
                     uct_rkey_t rkey, std::uint64_t* result, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::cswap64);
  const ucs_status_t status = post.original().ep_atomic_cswap64(ep, compare, swap, remote, rkey,
                                                                result, post.track(completion));
  return post.done(status, {.bytes = 8, .local = address_of(result), .remote = remote});
}

ucs_status_t cswap32(uct_ep_h ep, std::uint32_t compare, std::uint32_t swap, std::uint64_t remote,
                     uct_rkey_t rkey, std::uint32_t* result, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::cswap32);
  const ucs_status_t status = post.original().ep_atomic_cswap32(ep, compare, swap, remote, rkey,
                                                                result, post.track(completion));
  return post.done(status, {.bytes = 4, .local = address_of(result), .remote = remote});
}

ucs_status_t atomic32_post(uct_ep_h ep, unsigned opcode, std::uint32_t value, std::uint64_t remote,
                           uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::atomic32_post);
  const ucs_status_t status = post.original().ep_atomic32_post(ep, opcode, value, remote, rkey);
  return post.done(status, {.bytes = 4, .remote = remote});
}

ucs_status_t atomic64_post(uct_ep_h ep, unsigned opcode, std::uint64_t value, std::uint64_t remote,
                           uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::atomic64_post);
  const ucs_status_t status = post.original().ep_atomic64_post(ep, opcode, value, remote, rkey);
  return post.done(status, {.bytes = 8, .remote = remote});
}

ucs_status_t atomic32_fetch(uct_ep_h ep, unsigned opcode, std::uint32_t value,
                            std::uint32_t* result, std::uint64_t remote, uct_rkey_t rkey,
                            uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::atomic32_fetch);
  const ucs_status_t status = post.original().ep_atomic32_fetch(ep, opcode, value, result, remote,
                                                                rkey, post.track(completion));
  return post.done(status, {.bytes = 4, .local = address_of(result), .remote = remote});
}

ucs_status_t atomic64_fetch(uct_ep_h ep, unsigned opcode, std::uint64_t value,
                            std::uint64_t* result, std::uint64_t remote, uct_rkey_t rkey,
                            uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::atomic64_fetch);
  const ucs_status_t status = post.original().ep_atomic64_fetch(ep, opcode, value, result, remote,
                                                                rkey, post.track(completion));
  return post.done(status, {.bytes = 8, .local = address_of(result), .remote = remote});
}

// --- tag offload: the tag is the first header word -----------------------------------------------

ucs_status_t tag_eager_short(uct_ep_h ep, uct_tag_t tag, const void* data, std::size_t length) {
  Post post(ep->iface, ep, UctOp::tag_eager_short);
  const ucs_status_t status = post.original().ep_tag_eager_short(ep, tag, data, length);
  return post.done(status,
                   {.bytes = length, .local = address_of(data), .header_words = 1, .header = &tag});
}

ssize_t tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                        uct_pack_callback_t pack, void* argument, unsigned flags) {
  Post post(ep->iface, ep, UctOp::tag_eager_bcopy);
  const ssize_t length =
      post.original().ep_tag_eager_bcopy(ep, tag, immediate, pack, argument, flags);
  return post.done(length, {.bytes = length > 0 ? static_cast<std::uint64_t>(length) : 0,
                            .header_words = 1,
                            .header = &tag});
}

ucs_status_t tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                             const uct_iov_t* iov, std::size_t count, unsigned flags,
                             uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::tag_eager_zcopy);
  const ucs_status_t status = post.original().ep_tag_eager_zcopy(ep, tag, immediate, iov, count,
                                                                 flags, post.track(completion));
  return post.done(status, {.bytes = total_bytes(iov, count),
                            .local = first_address(iov, count),
                            .header_words = 1,
                            .header = &tag});
}

// --- order and completion ------------------------------------------------------------------------

ucs_status_t ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::ep_flush);
  return post.done(post.original().ep_flush(ep, flags, post.track(completion)), {});
}

ucs_status_t ep_fence(uct_ep_h ep, unsigned flags) {
  Post post(ep->iface, ep, UctOp::ep_fence);
  return post.done(post.original().ep_fence(ep, flags), {});
}

ucs_status_t iface_flush(uct_iface_h iface, unsigned flags, uct_completion_t* completion) {
  Post post(iface, nullptr, UctOp::iface_flush);
  return post.done(post.original().iface_flush(iface, flags, post.track(completion)), {});
}

template <typename Function>
void swap_slot(Function& slot, Function hook) {
  if (slot != nullptr) {
    __atomic_store_n(&slot, hook, __ATOMIC_RELEASE);
  }
}

}  // namespace

void swap_operations(uct_iface_ops_t& table) {
  swap_slot(table.ep_put_short, put_short);
  swap_slot(table.ep_put_bcopy, put_bcopy);
  swap_slot(table.ep_put_zcopy, put_zcopy);
  swap_slot(table.ep_get_short, get_short);
  swap_slot(table.ep_get_bcopy, get_bcopy);
  swap_slot(table.ep_get_zcopy, get_zcopy);
  swap_slot(table.ep_am_short, am_short);
  swap_slot(table.ep_am_short_iov, am_short_iov);
  swap_slot(table.ep_am_bcopy, am_bcopy);
  swap_slot(table.ep_am_zcopy, am_zcopy);
  swap_slot(table.ep_atomic_cswap64, cswap64);
  swap_slot(table.ep_atomic_cswap32, cswap32);
  swap_slot(table.ep_atomic32_post, atomic32_post);
  swap_slot(table.ep_atomic64_post, atomic64_post);
  swap_slot(table.ep_atomic32_fetch, atomic32_fetch);
  swap_slot(table.ep_atomic64_fetch, atomic64_fetch);
  swap_slot(table.ep_tag_eager_short, tag_eager_short);
  swap_slot(table.ep_tag_eager_bcopy, tag_eager_bcopy);
  swap_slot(table.ep_tag_eager_zcopy, tag_eager_zcopy);
  swap_slot(table.ep_flush, ep_flush);
  swap_slot(table.ep_fence, ep_fence);
  swap_slot(table.iface_flush, iface_flush);
  swap_slot(table.ep_pending_add, pending_add);
  swap_slot(table.ep_pending_purge, pending_purge);
}

}  // namespace uctrace::uct
