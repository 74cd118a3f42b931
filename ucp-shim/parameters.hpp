// The parameters of a UCP call, whichever UCX its program was compiled for.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>

namespace uctrace::ucp {

// ucp_request_param_t of UCX 1.22. Earlier ones end earlier, so that what the mask does not name
// may not be there; what is there lies where it lies here.
struct RequestParam {
  std::uint32_t op_attr_mask;
  std::uint32_t flags;
  void* request;
  decltype(ucp_request_param_t::cb) cb;
  ucp_datatype_t datatype;
  void* user_data;
  void* reply_buffer;
  ucs_memory_type_t memory_type;
  decltype(ucp_request_param_t::recv_info) recv_info;
  ucp_mem_h memh;                  // 1.13
  ucp_datatype_t remote_datatype;  // 1.22, as the rest
  const void* remote;
  std::size_t remote_count;
};

// Copies what the mask names. Returns the bits of the mask that this build does not know: if there
// are any, the caller's own parameters have to be handed down.
std::uint32_t copy_parameters(const ucp_request_param_t* param, RequestParam& to);

// Bytes of a buffer of `count` elements. `*known` is false for generic datatypes.
std::uint64_t buffer_bytes(const RequestParam& param, const void* buffer, std::size_t count,
                           bool* known);
inline std::uint64_t buffer_bytes(const ucp_request_param_t* param, const void* buffer,
                                  std::size_t count, bool* known) {
  return buffer_bytes(*reinterpret_cast<const RequestParam*>(param), buffer, count, known);
}

}  // namespace uctrace::ucp
