// Names of UCX's numbers, as UCX writes them in its headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event-log/format/kinds.hpp"

namespace uctrace::merge {

std::string ucs_status_name(std::int32_t status);  // UCS_OK, UCS_ERR_CANCELED, ...
// These are constants.
std::string_view uct_op_name(log::UctOp op);        // am_bcopy, get_zcopy, ...
std::string_view uct_hook_name(log::UctHook hook);  // the slot of UCT's table that it is for
std::string_view ucp_function_name(log::UcpFunction function);  // ucp_tag_send_nbx, ...

}  // namespace uctrace::merge
