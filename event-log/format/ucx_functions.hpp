// The functions of UCX that are recorded, each declared once: enumerations, names and tables of
// hooks are made from these lists. Their order is part of the log's format: never reorder, only
// append (docs/log-format.md).
#pragma once

// X(operation): the kinds of UCT operations. `tag_recv_zcopy` is posted to the interface, and moves
// nothing by itself.
#define UCTRACE_UCT_OPS(X) \
  X(put_short)             \
  X(put_bcopy)             \
  X(put_zcopy)             \
  X(get_short)             \
  X(get_bcopy)             \
  X(get_zcopy)             \
  X(am_short)              \
  X(am_short_iov)          \
  X(am_bcopy)              \
  X(am_zcopy)              \
  X(cswap32)               \
  X(cswap64)               \
  X(atomic32_post)         \
  X(atomic64_post)         \
  X(atomic32_fetch)        \
  X(atomic64_fetch)        \
  X(tag_eager_short)       \
  X(tag_eager_bcopy)       \
  X(tag_eager_zcopy)       \
  X(tag_rndv_zcopy)        \
  X(tag_rndv_request)      \
  X(ep_flush)              \
  X(ep_fence)              \
  X(iface_flush)           \
  X(ep_check)              \
  X(tag_rndv_cancel)       \
  X(tag_recv_zcopy)        \
  X(tag_recv_cancel)       \
  X(put_sgl_zcopy)         \
  X(get_sgl_zcopy)

// X(slot, hook): the slots of uct_iface_ops_t that have a hook, and its function in uct-shim/.
#define UCTRACE_UCT_SLOTS(X)                \
  X(ep_put_short, put_short)                \
  X(ep_put_bcopy, put_bcopy)                \
  X(ep_put_zcopy, put_zcopy)                \
  X(ep_get_short, get_short)                \
  X(ep_get_bcopy, get_bcopy)                \
  X(ep_get_zcopy, get_zcopy)                \
  X(ep_am_short, am_short)                  \
  X(ep_am_short_iov, am_short_iov)          \
  X(ep_am_bcopy, am_bcopy)                  \
  X(ep_am_zcopy, am_zcopy)                  \
  X(ep_atomic_cswap64, cswap64)             \
  X(ep_atomic_cswap32, cswap32)             \
  X(ep_atomic32_post, atomic32_post)        \
  X(ep_atomic64_post, atomic64_post)        \
  X(ep_atomic32_fetch, atomic32_fetch)      \
  X(ep_atomic64_fetch, atomic64_fetch)      \
  X(ep_tag_eager_short, tag_eager_short)    \
  X(ep_tag_eager_bcopy, tag_eager_bcopy)    \
  X(ep_tag_eager_zcopy, tag_eager_zcopy)    \
  X(ep_tag_rndv_zcopy, tag_rndv_zcopy)      \
  X(ep_tag_rndv_cancel, tag_rndv_cancel)    \
  X(ep_tag_rndv_request, tag_rndv_request)  \
  X(iface_tag_recv_zcopy, tag_recv_zcopy)   \
  X(iface_tag_recv_cancel, tag_recv_cancel) \
  X(ep_pending_add, pending_add)            \
  X(ep_pending_purge, pending_purge)        \
  X(ep_flush, ep_flush)                     \
  X(ep_fence, ep_fence)                     \
  X(ep_check, ep_check)                     \
  X(iface_flush, iface_flush)

// X(function, action): the functions that make memory known to others, and what they do
// (MemoryAction). UCP also calls those of UCT, and so does UCT itself.
#define UCTRACE_MEMORY_FUNCTIONS(X)                   \
  X(uct_md_mem_reg, registration)                     \
  X(uct_md_mem_reg_v2, registration)                  \
  X(uct_md_mem_attach, attachment)                    \
  X(uct_md_mem_dereg, deregistration)                 \
  X(uct_md_mem_dereg_v2, deregistration)              \
  X(uct_md_mkey_pack, key_packing)                    \
  X(uct_md_mkey_pack_v2, key_packing)                 \
  X(uct_rkey_unpack, key_unpacking)                   \
  X(uct_rkey_unpack_v2, key_unpacking)                \
  X(uct_rkey_release, key_release)                    \
  X(ucp_mem_map, mapping)                             \
  X(ucp_mem_unmap, unmapping)                         \
  X(ucp_rkey_pack, key_packing)                       \
  X(ucp_memh_pack, key_packing)                       \
  X(ucp_ep_rkey_unpack, key_unpacking)                \
  X(ucp_rkey_destroy, key_release)                    \
  X(uct_ep_get_device_ep, kernel_endpoint)            \
  X(uct_iface_mem_element_pack, kernel_memory)        \
  X(uct_md_mem_elem_pack, kernel_memory)              \
  X(uct_md_mem_elem_release, kernel_release)          \
  X(ucp_device_mem_list_create, kernel_memory)        \
  X(ucp_device_local_mem_list_create, kernel_memory)  \
  X(ucp_device_remote_mem_list_create, kernel_memory) \
  X(ucp_device_mem_list_release, kernel_release)

// X(function, family): the functions of UCP, and what they do (UcpFamily). `am_handler` is a
// message handed to a handler of the program.
#define UCTRACE_UCP_FUNCTIONS(X)       \
  X(tag_send_nb, tag_send)             \
  X(tag_send_nbr, tag_send)            \
  X(tag_send_nbx, tag_send)            \
  X(tag_send_sync_nb, tag_send)        \
  X(tag_send_sync_nbx, tag_send)       \
  X(tag_recv_nb, tag_receive)          \
  X(tag_recv_nbr, tag_receive)         \
  X(tag_recv_nbx, tag_receive)         \
  X(tag_msg_recv_nb, tag_receive)      \
  X(tag_msg_recv_nbx, tag_receive)     \
  X(put, put)                          \
  X(put_nb, put)                       \
  X(put_nbi, put)                      \
  X(put_nbx, put)                      \
  X(get, get)                          \
  X(get_nb, get)                       \
  X(get_nbi, get)                      \
  X(get_nbx, get)                      \
  X(atomic_post, atomic)               \
  X(atomic_fetch_nb, atomic)           \
  X(atomic_op_nbx, atomic)             \
  X(atomic_add32, atomic)              \
  X(atomic_add64, atomic)              \
  X(atomic_fadd32, atomic)             \
  X(atomic_fadd64, atomic)             \
  X(atomic_swap32, atomic)             \
  X(atomic_swap64, atomic)             \
  X(atomic_cswap32, atomic)            \
  X(atomic_cswap64, atomic)            \
  X(ep_flush, flush)                   \
  X(ep_flush_nb, flush)                \
  X(ep_flush_nbx, flush)               \
  X(worker_flush, flush)               \
  X(worker_flush_nb, flush)            \
  X(worker_flush_nbx, flush)           \
  X(worker_fence, flush)               \
  X(am_send_nb, am_send)               \
  X(am_send_nbx, am_send)              \
  X(am_handler, am_receive)            \
  X(am_recv_data_nbx, am_receive_data) \
  X(ep_close_nb, flush)                \
  X(ep_close_nbx, flush)               \
  X(disconnect_nb, flush)              \
  X(ep_destroy, flush)                 \
  X(stream_send_nb, stream_send)       \
  X(stream_send_nbx, stream_send)      \
  X(stream_recv_nb, stream_receive)    \
  X(stream_recv_nbx, stream_receive)   \
  X(stream_recv_data_nb, stream_receive)
