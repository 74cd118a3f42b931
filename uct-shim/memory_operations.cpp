// Operations on remote memory: put, get and atomics. Sizes of atomics are those of one operand.
#include "interpose/export.hpp"
#include "interpose/leave_out.hpp"
#include "interpose/original.hpp"
#include "uct-shim/operations.hpp"

namespace uctrace::uct {

using log::UctOp;

ucs_status_t put_short(uct_ep_h ep, const void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::put_short);
  const ucs_status_t status = post.original().ep_put_short(ep, buffer, length, remote, rkey);
  return post.done(status, {.bytes = length, .local = address_of(buffer), .remote = remote});
}

ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void* argument, std::uint64_t remote,
                  uct_rkey_t rkey) {
  Post post(ep->iface, ep, UctOp::put_bcopy);
  post.is_for(request_at(argument));
  const ssize_t length = post.original().ep_put_bcopy(ep, pack, argument, remote, rkey);
  return post.done(length, {.bytes = length_or_none(length), .remote = remote});
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

// --- atomics -------------------------------------------------------------------------------------

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

namespace {

// uct_ep_put_sgl_zcopy (UCX 1.22) and uct_ep_get_sgl_zcopy (1.23): each element of a list has its
// own remote address. These functions bypass the table of operations and use slots that only libuct
// knows.
using ListOperation = ucs_status_t(uct_ep_h, void* const*, const std::size_t*, const uct_mem_h*,
                                   const std::uint64_t*, const uct_rkey_t*, const std::size_t*,
                                   const std::size_t*, std::size_t, uct_completion_t*);

// Their arguments.
struct List {
  uct_ep_h ep;
  void* const* buffers;
  const std::size_t* lengths;
  const uct_mem_h* memory;
  const std::uint64_t* remotes;
  const uct_rkey_t* rkeys;
  const std::size_t* counts;
  const std::size_t* strides;
  std::size_t count;
  uct_completion_t* completion;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += static_cast<std::uint64_t>(lengths[i]) * (counts != nullptr ? counts[i] : 1);
    }
    return sum;
  }
  ucs_status_t hand_to(ListOperation* next, uct_completion_t* told) const {
    return next(ep, buffers, lengths, memory, remotes, rkeys, counts, strides, count, told);
  }
};

ucs_status_t post_list(const List& list, log::UctOp op, const char* name, ListOperation* next) {
  if (next == nullptr) return UCS_ERR_UNSUPPORTED;
  if (interpose::left_out(name) || find_open_interface(list.ep->iface) == nullptr) {
    return list.hand_to(next, list.completion);
  }
  Post post(list.ep->iface, list.ep, op);
  const ucs_status_t status = list.hand_to(next, post.track(list.completion));
  return post.done(status, {.bytes = list.bytes(),
                            .local = list.count > 0 ? address_of(list.buffers[0]) : 0,
                            .remote = list.count > 0 ? list.remotes[0] : 0});
}

}  // namespace

}  // namespace uctrace::uct

using namespace uctrace;

// The UCX that this is built with lacks both, so its headers have no prototypes.
#define LIST_OPERATION(op)                                                                  \
  UCTRACE_EXPORT ucs_status_t uct_ep_##op(                                                  \
      uct_ep_h ep, void* const* buffers, const size_t* lengths, const uct_mem_h* memory,    \
      const std::uint64_t* remotes, const uct_rkey_t* rkeys, const size_t* counts,          \
      const size_t* strides, size_t count, uct_completion_t* completion) {                  \
    static constinit interpose::Original<uct::ListOperation*> original{"uct_ep_" #op};      \
    return uct::post_list(                                                                  \
        {ep, buffers, lengths, memory, remotes, rkeys, counts, strides, count, completion}, \
        log::UctOp::op, __func__, original.get(__builtin_return_address(0)));               \
  }

LIST_OPERATION(put_sgl_zcopy)
LIST_OPERATION(get_sgl_zcopy)
