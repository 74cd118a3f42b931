// The parameters of a UCP call, whichever UCX its program was compiled for.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::ucp {

// ucp_request_param_t of UCX 1.22. Earlier ones are shorter, so fields that the mask does not name
// may not be there; those that are there have the same offsets.
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

// The class of datatype for lists of UCX 1.22.
inline constexpr ucp_datatype_t kSglDatatype = 4;

namespace detail {
// Bits of ucp_op_attr_t that headers older than 1.22 do not have.
inline constexpr std::uint32_t kRemoteDatatype = 1u << 9, kRemote = 1u << 10,
                               kRemoteCount = 1u << 11;

// The fields that UCX 1.8 also has; the rest was appended later.
inline constexpr std::uint32_t kFirstFields =
    UCP_OP_ATTR_FIELD_REQUEST | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
    UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS;
inline constexpr std::uint32_t kLaterFields =
    UCP_OP_ATTR_FIELD_REPLY_BUFFER | UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_RECV_INFO |
    UCP_OP_ATTR_FIELD_MEMH | kRemoteDatatype | kRemote | kRemoteCount;
inline constexpr std::uint32_t kKnown =
    kFirstFields | kLaterFields | UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FLAG_FAST_CMPL |
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL | UCP_OP_ATTR_FLAG_MULTI_SEND;
void copy_later_fields(const RequestParam& from, RequestParam& to);
}  // namespace detail

// Copies what the mask names. Returns the bits of the mask that this build does not know: if there
// are any, hand down the caller's own parameters.
//
// Field by field: wider loads of what the caller has just stored would wait for its stores. The
// first fields are always there; those that the mask does not name may be uninitialised, which is
// harmless.
inline std::uint32_t copy_parameters(const ucp_request_param_t* param, RequestParam& to) {
  const auto& from = *reinterpret_cast<const RequestParam*>(param);
  to.op_attr_mask = from.op_attr_mask;
  to.flags = from.flags;
  to.request = from.request;
  to.cb = from.cb;
  to.datatype = from.datatype;
  to.user_data = from.user_data;
  if ((from.op_attr_mask & detail::kLaterFields) != 0) [[unlikely]] {
    detail::copy_later_fields(from, to);
  }
  return from.op_attr_mask & ~detail::kKnown;
}

// Bytes of a buffer that a list or a generic datatype describes; for the latter they are not known.
// Notes where the parts of a list lie for the operation's record (buffer_memory.hpp), unless
// `operation` is 0.
std::uint64_t list_bytes(const RequestParam& param, const void* buffer, std::size_t count,
                         log::Id operation, bool* known);

// Bytes of a buffer of `count` elements. `*known` is false for generic datatypes.
inline std::uint64_t buffer_bytes(const ucp_request_param_t* caller, const void* buffer,
                                  std::size_t count, log::Id operation, bool* known) {
  const auto& param = *reinterpret_cast<const RequestParam*>(caller);
  const ucp_datatype_t datatype = (param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) != 0
                                      ? param.datatype
                                      : ucp_dt_make_contig(1);
  if ((datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG) [[likely]] {
    *known = true;
    return count * (datatype >> UCP_DATATYPE_SHIFT);
  }
  return list_bytes(param, buffer, count, operation, known);
}

}  // namespace uctrace::ucp
