// What the functions of UCP are called: the merger shows the names, the shims know them for hooks
// that the user leaves out.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

// In the order of UcpFunction.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(UcpFunction::kCount)>
    kUcpFunctionNames = {
        "none",
        "ucp_tag_send_nb",
        "ucp_tag_send_nbr",
        "ucp_tag_send_nbx",
        "ucp_tag_send_sync_nb",
        "ucp_tag_send_sync_nbx",
        "ucp_tag_recv_nb",
        "ucp_tag_recv_nbr",
        "ucp_tag_recv_nbx",
        "ucp_tag_msg_recv_nb",
        "ucp_tag_msg_recv_nbx",
        "ucp_put",
        "ucp_put_nb",
        "ucp_put_nbi",
        "ucp_put_nbx",
        "ucp_get",
        "ucp_get_nb",
        "ucp_get_nbi",
        "ucp_get_nbx",
        "ucp_atomic_post",
        "ucp_atomic_fetch_nb",
        "ucp_atomic_op_nbx",
        "ucp_atomic_add32",
        "ucp_atomic_add64",
        "ucp_atomic_fadd32",
        "ucp_atomic_fadd64",
        "ucp_atomic_swap32",
        "ucp_atomic_swap64",
        "ucp_atomic_cswap32",
        "ucp_atomic_cswap64",
        "ucp_ep_flush",
        "ucp_ep_flush_nb",
        "ucp_ep_flush_nbx",
        "ucp_worker_flush",
        "ucp_worker_flush_nb",
        "ucp_worker_flush_nbx",
        "ucp_worker_fence",
        "ucp_am_send_nb",
        "ucp_am_send_nbx",
        "ucp_am_handler",  // a call of one of the program's
        "ucp_am_recv_data_nbx",
        "ucp_ep_close_nb",
        "ucp_ep_close_nbx",
        "ucp_disconnect_nb",
        "ucp_ep_destroy",
        "ucp_stream_send_nb",
        "ucp_stream_send_nbx",
        "ucp_stream_recv_nb",
        "ucp_stream_recv_nbx",
        "ucp_stream_recv_data_nb",
};

}  // namespace uctrace::log
