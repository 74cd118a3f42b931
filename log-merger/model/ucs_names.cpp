#include "log-merger/model/ucs_names.hpp"

#include <iterator>

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

#define UCTRACE_NAME(name, ...) #name,
constexpr std::string_view kUctOps[] = {"none", UCTRACE_UCT_OPS(UCTRACE_NAME)};
constexpr std::string_view kUctSlots[] = {UCTRACE_UCT_SLOTS(UCTRACE_NAME)};
#undef UCTRACE_NAME

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
  return i < std::size(kUctOps) ? kUctOps[i] : "unknown";
}

std::string_view uct_hook_name(log::UctHook hook) {
  return kUctSlots[static_cast<std::size_t>(hook)];
}

std::string_view ucp_function_name(log::UcpFunction function) {
  if (function == log::UcpFunction::am_handler) {
    return "active message handler";  // the program's own, no function of UCP
  }
  const auto i = static_cast<std::size_t>(function);
  return i < log::kUcpFunctionNames.size() ? log::kUcpFunctionNames[i] : "unknown";
}

}  // namespace uctrace::merge
