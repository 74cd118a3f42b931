#include "ucp-shim/parameters.hpp"

#include "device-attributor/device_attributor.hpp"
#include "ucp-shim/buffer_lists.hpp"
#include "ucp-shim/buffer_memory.hpp"

namespace uctrace::ucp {

namespace {

#define UCTRACE_SAME_PLACE(field) \
  static_assert(offsetof(RequestParam, field) == offsetof(ucp_request_param_t, field))
UCTRACE_SAME_PLACE(op_attr_mask);
UCTRACE_SAME_PLACE(flags);
UCTRACE_SAME_PLACE(request);
UCTRACE_SAME_PLACE(cb);
UCTRACE_SAME_PLACE(datatype);
UCTRACE_SAME_PLACE(user_data);
UCTRACE_SAME_PLACE(reply_buffer);
UCTRACE_SAME_PLACE(memory_type);
UCTRACE_SAME_PLACE(recv_info);
UCTRACE_SAME_PLACE(memh);
#undef UCTRACE_SAME_PLACE

}  // namespace

void detail::copy_later_fields(const RequestParam& from, RequestParam& to) {
  const auto has = [&](std::uint32_t field) { return (from.op_attr_mask & field) != 0; };
  if (has(UCP_OP_ATTR_FIELD_REPLY_BUFFER)) to.reply_buffer = from.reply_buffer;
  if (has(UCP_OP_ATTR_FIELD_MEMORY_TYPE)) to.memory_type = from.memory_type;
  if (has(UCP_OP_ATTR_FIELD_RECV_INFO)) to.recv_info = from.recv_info;
  if (has(UCP_OP_ATTR_FIELD_MEMH)) to.memh = from.memh;
  if (has(kRemoteDatatype)) to.remote_datatype = from.remote_datatype;
  if (has(kRemote)) to.remote = from.remote;
  if (has(kRemoteCount)) to.remote_count = from.remote_count;
}

namespace {

bool sgl_bytes(const LocalSgl& list, std::size_t count, std::uint64_t& bytes) {
  if ((list.field_mask & LocalSgl::kLengths) == 0) {
    return false;
  }
  const bool repeats = (list.field_mask & LocalSgl::kCounts) != 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += list.lengths[i] * (repeats ? list.counts[i] : 1);
  }
  return true;
}

std::uint64_t iov_bytes(const ucp_dt_iov_t* list, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += list[i].length;
  }
  return bytes;
}

void keep_memory(ucp_datatype_t datatype, const void* buffer, std::size_t count,
                 log::Id operation) {
  ListMemory memory(operation);
  each_part(datatype, buffer, count, [&](const void* part) { memory.add(part); });
}

}  // namespace

std::uint64_t list_bytes(const RequestParam& param, const void* buffer, std::size_t count,
                         log::Id operation, bool* known) {
  if (operation != 0 && gpu::active()) keep_memory(param.datatype, buffer, count, operation);
  std::uint64_t bytes = 0;
  switch (param.datatype & UCP_DATATYPE_CLASS_MASK) {
    case UCP_DATATYPE_IOV:
      *known = true;
      return iov_bytes(static_cast<const ucp_dt_iov_t*>(buffer), count);
    case kSglDatatype:
      *known = sgl_bytes(*static_cast<const LocalSgl*>(buffer), count, bytes);
      return bytes;
    default:
      *known = false;
      return 0;
  }
}

}  // namespace uctrace::ucp
