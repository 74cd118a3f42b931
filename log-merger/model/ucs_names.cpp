#include "log-merger/model/ucs_names.hpp"

#include <array>

#include "event-log/format/ucp_names.hpp"

namespace uctrace::merge {

namespace {

struct StatusName {
  std::int32_t status;
  const char* name;
};

// ucs/type/status.h
constexpr StatusName kStatusNames[] = {
    {0, "UCS_OK"},
    {1, "UCS_INPROGRESS"},
    {-1, "UCS_ERR_NO_MESSAGE"},
    {-2, "UCS_ERR_NO_RESOURCE"},
    {-3, "UCS_ERR_IO_ERROR"},
    {-4, "UCS_ERR_NO_MEMORY"},
    {-5, "UCS_ERR_INVALID_PARAM"},
    {-6, "UCS_ERR_UNREACHABLE"},
    {-7, "UCS_ERR_INVALID_ADDR"},
    {-8, "UCS_ERR_NOT_IMPLEMENTED"},
    {-9, "UCS_ERR_MESSAGE_TRUNCATED"},
    {-10, "UCS_ERR_NO_PROGRESS"},
    {-11, "UCS_ERR_BUFFER_TOO_SMALL"},
    {-12, "UCS_ERR_NO_ELEM"},
    {-13, "UCS_ERR_SOME_CONNECTS_FAILED"},
    {-14, "UCS_ERR_NO_DEVICE"},
    {-15, "UCS_ERR_BUSY"},
    {-16, "UCS_ERR_CANCELED"},
    {-17, "UCS_ERR_SHMEM_SEGMENT"},
    {-18, "UCS_ERR_ALREADY_EXISTS"},
    {-19, "UCS_ERR_OUT_OF_RANGE"},
    {-20, "UCS_ERR_TIMED_OUT"},
    {-21, "UCS_ERR_EXCEEDS_LIMIT"},
    {-22, "UCS_ERR_UNSUPPORTED"},
    {-23, "UCS_ERR_REJECTED"},
    {-24, "UCS_ERR_NOT_CONNECTED"},
    {-25, "UCS_ERR_CONNECTION_RESET"},
    {-80, "UCS_ERR_ENDPOINT_TIMEOUT"},
};

// In the order of log::UctOp.
constexpr std::array<std::string_view, static_cast<std::size_t>(log::UctOp::kCount)> kUctOps = {
    "none",           "put_short",        "put_bcopy",       "put_zcopy",       "get_short",
    "get_bcopy",      "get_zcopy",        "am_short",        "am_short_iov",    "am_bcopy",
    "am_zcopy",       "cswap32",          "cswap64",         "atomic32_post",   "atomic64_post",
    "atomic32_fetch", "atomic64_fetch",   "tag_eager_short", "tag_eager_bcopy", "tag_eager_zcopy",
    "tag_rndv_zcopy", "tag_rndv_request", "ep_flush",        "ep_fence",        "iface_flush",
    "ep_check",       "tag_rndv_cancel",  "tag_recv_zcopy",  "tag_recv_cancel", "put_sgl_zcopy",
};

// In the order of log::UctHook.
constexpr std::array<std::string_view, static_cast<std::size_t>(log::UctHook::kCount)> kUctHooks = {
    "ep_put_short",
    "ep_put_bcopy",
    "ep_put_zcopy",
    "ep_get_short",
    "ep_get_bcopy",
    "ep_get_zcopy",
    "ep_am_short",
    "ep_am_short_iov",
    "ep_am_bcopy",
    "ep_am_zcopy",
    "ep_atomic_cswap64",
    "ep_atomic_cswap32",
    "ep_atomic32_post",
    "ep_atomic64_post",
    "ep_atomic32_fetch",
    "ep_atomic64_fetch",
    "ep_tag_eager_short",
    "ep_tag_eager_bcopy",
    "ep_tag_eager_zcopy",
    "ep_tag_rndv_zcopy",
    "ep_tag_rndv_cancel",
    "ep_tag_rndv_request",
    "iface_tag_recv_zcopy",
    "iface_tag_recv_cancel",
    "ep_pending_add",
    "ep_pending_purge",
    "ep_flush",
    "ep_fence",
    "ep_check",
    "iface_flush",
};

}  // namespace

std::string ucs_status_name(std::int32_t status) {
  for (const StatusName& known : kStatusNames) {
    if (known.status == status) {
      return known.name;
    }
  }
  return "UCS_STATUS(" + std::to_string(status) + ")";
}

std::string_view uct_op_name(log::UctOp op) {
  const auto i = static_cast<std::size_t>(op);
  return i < kUctOps.size() ? kUctOps[i] : "unknown";
}

std::string_view uct_hook_name(log::UctHook hook) {
  return kUctHooks[static_cast<std::size_t>(hook)];
}

std::string_view ucp_function_name(log::UcpFunction function) {
  if (function == log::UcpFunction::am_handler) {
    return "active message handler";  // the program's own, no function of UCP
  }
  const auto i = static_cast<std::size_t>(function);
  return i < log::kUcpFunctionNames.size() ? log::kUcpFunctionNames[i] : "unknown";
}

}  // namespace uctrace::merge
