// The parts of a buffer that is described by a list.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>

#include "ucp-shim/parameters.hpp"

namespace uctrace::ucp {

// ucp_dt_local_sgl_t of UCX 1.22.
struct LocalSgl {
  static constexpr std::uint64_t kBuffers = 1u << 0, kLengths = 1u << 1, kCounts = 1u << 3;
  std::uint64_t field_mask;
  void* const* buffers;
  const std::size_t* lengths;
  ucp_mem_h const* memhs;
  const std::size_t* counts;
};

// Visits the beginning of each part that has data. False: the datatype is not one of lists.
template <typename Visit>
bool each_part(ucp_datatype_t datatype, const void* buffer, std::size_t count, Visit visit) {
  if ((datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_IOV) {
    const auto* list = static_cast<const ucp_dt_iov_t*>(buffer);
    for (std::size_t i = 0; i < count; ++i) {
      if (list[i].length != 0) visit(list[i].buffer);
    }
    return true;
  }
  if ((datatype & UCP_DATATYPE_CLASS_MASK) == kSglDatatype) {
    const auto& list = *static_cast<const LocalSgl*>(buffer);
    constexpr std::uint64_t kBoth = LocalSgl::kBuffers | LocalSgl::kLengths;
    for (std::size_t i = 0; i < count && (list.field_mask & kBoth) == kBoth; ++i) {
      if (list.lengths[i] != 0) visit(list.buffers[i]);
    }
    return true;
  }
  return false;
}

}  // namespace uctrace::ucp
