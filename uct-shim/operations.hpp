// The hooks of UCT's operations, by family: one function per slot of uct_iface_ops_t that moves or
// orders data. iface_progress and iface_fence have none: transports compare or cache them.
#pragma once

#include <uct/api/uct.h>

#include "uct-shim/post.hpp"

namespace uctrace::uct {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

inline std::uint64_t total_bytes(const uct_iov_t* iov, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<std::uint64_t>(iov[i].length) * iov[i].count;
  }
  return bytes;
}

inline std::uint64_t first_address(const uct_iov_t* iov, std::size_t count) {
  return count > 0 ? address_of(iov[0].buffer) : 0;
}

inline std::uint64_t length_or_none(ssize_t length) {
  return length > 0 ? static_cast<std::uint64_t>(length) : 0;
}

// put, get and atomics: memory_operations.cpp
ucs_status_t put_short(uct_ep_h ep, const void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t rkey);
ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void* argument, std::uint64_t remote,
                  uct_rkey_t rkey);
ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t rkey, uct_completion_t* completion);
ucs_status_t get_short(uct_ep_h ep, void* buffer, unsigned length, std::uint64_t remote,
                       uct_rkey_t rkey);
ucs_status_t get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack, void* argument,
                       std::size_t length, std::uint64_t remote, uct_rkey_t rkey,
                       uct_completion_t* completion);
ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t* iov, std::size_t count, std::uint64_t remote,
                       uct_rkey_t rkey, uct_completion_t* completion);
ucs_status_t cswap64(uct_ep_h ep, std::uint64_t compare, std::uint64_t swap, std::uint64_t remote,
                     uct_rkey_t rkey, std::uint64_t* result, uct_completion_t* completion);
ucs_status_t cswap32(uct_ep_h ep, std::uint32_t compare, std::uint32_t swap, std::uint64_t remote,
                     uct_rkey_t rkey, std::uint32_t* result, uct_completion_t* completion);
ucs_status_t atomic32_post(uct_ep_h ep, unsigned opcode, std::uint32_t value, std::uint64_t remote,
                           uct_rkey_t rkey);
ucs_status_t atomic64_post(uct_ep_h ep, unsigned opcode, std::uint64_t value, std::uint64_t remote,
                           uct_rkey_t rkey);
ucs_status_t atomic32_fetch(uct_ep_h ep, unsigned opcode, std::uint32_t value,
                            std::uint32_t* result, std::uint64_t remote, uct_rkey_t rkey,
                            uct_completion_t* completion);
ucs_status_t atomic64_fetch(uct_ep_h ep, unsigned opcode, std::uint64_t value,
                            std::uint64_t* result, std::uint64_t remote, uct_rkey_t rkey,
                            uct_completion_t* completion);

// active messages: am_operations.cpp
ucs_status_t am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header, const void* payload,
                      unsigned length);
ucs_status_t am_short_iov(uct_ep_h ep, std::uint8_t id, const uct_iov_t* iov, std::size_t count);
ssize_t am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack, void* argument,
                 unsigned flags);
ucs_status_t am_zcopy(uct_ep_h ep, std::uint8_t id, const void* header, unsigned header_length,
                      const uct_iov_t* iov, std::size_t count, unsigned flags,
                      uct_completion_t* completion);

// tag offload, the sending side: tag_operations.cpp
ucs_status_t tag_eager_short(uct_ep_h ep, uct_tag_t tag, const void* data, std::size_t length);
ssize_t tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                        uct_pack_callback_t pack, void* argument, unsigned flags);
ucs_status_t tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate,
                             const uct_iov_t* iov, std::size_t count, unsigned flags,
                             uct_completion_t* completion);
ucs_status_ptr_t tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag, const void* header,
                                unsigned header_length, const uct_iov_t* iov, std::size_t count,
                                unsigned flags, uct_completion_t* completion);
ucs_status_t tag_rndv_cancel(uct_ep_h ep, void* handle);
ucs_status_t tag_rndv_request(uct_ep_h ep, uct_tag_t tag, const void* header,
                              unsigned header_length, unsigned flags);

// tag offload, the receiving side: tag_receives.cpp
ucs_status_t tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag, uct_tag_t mask, const uct_iov_t* iov,
                            std::size_t count, uct_tag_context_t* context);
ucs_status_t tag_recv_cancel(uct_iface_h iface, uct_tag_context_t* context, int force);

// order, completion and liveness: flush_operations.cpp
ucs_status_t ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t* completion);
ucs_status_t ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t ep_check(uct_ep_h ep, unsigned flags, uct_completion_t* completion);
ucs_status_t iface_flush(uct_iface_h iface, unsigned flags, uct_completion_t* completion);

}  // namespace uctrace::uct
