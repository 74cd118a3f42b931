// UCP put, get and atomic operations. The *_nbx calls record the operations; the older forms call
// them inside libucp (some through each other), so their wrappers only leave their name.
#include <atomic>

#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/left_out_operations.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;
using log::UcpFunction;

struct OneSided {
  ucp_ep_h endpoint;
  const void* buffer;  // nullptr: not the program's
  std::size_t count;
  std::uint64_t remote;
  const void* reply_buffer;
};

// For the program's own buffer: a get puts its data there.
void count_moved(CountedMemory memory, ucs_status_ptr_t result, const OneSidedCount& what) {
  if (memory == kNotCounted) [[likely]] {
    return;
  }
  const bool receives = what.family == log::UcpFamily::get;
  count_sent(receives ? memory | log::kDataReceived : memory, result, what.bytes);
}

// `post` makes the original call with the parameters that it gets.
template <typename Post>
ucs_status_ptr_t one_sided(UcpFunction function, Tracking tracking, const OneSided& what,
                           const ucp_request_param_t* param, Post post) {
  if (log::Lane* lane = lane_of_left_out()) {
    return post_left_out(*lane, log::family_of(function), [&] { return post(param); });
  }
  RequestParam handed;
  Call call(function, log::family_of(function), param, handed, tracking);
  if (!call.active() && !counts_operations()) {
    return post(param);
  }
  bool known;
  const std::uint64_t bytes = buffer_bytes(param, what.buffer, what.count, call.id(), &known);
  const OneSidedCount counted{what.endpoint, log::family_of(function), bytes,
                              what.reply_buffer != nullptr};
  const CountedMemory memory = counted_memory(param, what.buffer, what.count);
  ucs_status_ptr_t result;
  if (!call.active()) {
    result = post(param);
    count_moved(memory, result, counted);
    return count_one_sided(pass_untracked(result), counted);
  }
  {
    const uct::ContextScope scope({call.id(), log::Origin::ucp, log::Route::call});
    result = post(call.handed(param));
  }
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(what.endpoint),
                       .buffer = what.buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .remote = what.remote,
                       .reply_buffer = reinterpret_cast<std::uint64_t>(what.reply_buffer),
                       .posted_tick = 0});
  count_moved(memory, result, counted);
  if (counts_operations()) count_one_sided(result, counted);
  return result;
}

// ucp_put_nbi and ucp_get_nbi free the request that their nbx form returns.
Tracking tracking_of(UcpFunction function) {
  return function == UcpFunction::put_nbi || function == UcpFunction::get_nbi ? Tracking::implicit
                                                                              : Tracking::callback;
}

// UCX reports an atomic operation without a result as complete at return, whether it is or not,
// unless its caller forbids that.
Tracking tracking_of(const ucp_request_param_t& param) {
  constexpr std::uint32_t kTold = UCP_OP_ATTR_FIELD_REPLY_BUFFER | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  return (param.op_attr_mask & kTold) == 0 ? Tracking::implicit : Tracking::callback;
}

using AtomicPost = decltype(&::ucp_atomic_post);

// A function that does is remembered: asking for the version costs a tenth of a record.
bool posts_by_nbx(AtomicPost post, const void* caller) {
  static constinit std::atomic<AtomicPost> known{nullptr};
  if (known.load(std::memory_order_relaxed) == post) return true;
  const ucx::Release* const release = uct::ucx_release(caller);
  if (release != nullptr && !release->posts_by_nbx) return false;
  known.store(post, std::memory_order_relaxed);
  return true;
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;
using log::UcpFunction;

#define UCTRACE_CALLER __builtin_return_address(0)
#define UCTRACE_NBX(name) \
  static constinit interpose::Original<decltype(&::name)> original_##name { #name }
// Wraps an older form: `ucp_` before the name of its UcpFunction.
#define UCTRACE_OLDER(result, name, parameters, arguments)                                     \
  static constinit interpose::Original<decltype(&::ucp_##name)> original_##name{"ucp_" #name}; \
  UCTRACE_EXPORT result ucp_##name parameters {                                                \
    const ucp::CalledAs as(UcpFunction::name);                                                 \
    return original_##name.get(UCTRACE_CALLER) arguments;                                      \
  }

UCTRACE_NBX(ucp_put_nbx);
UCTRACE_NBX(ucp_get_nbx);
UCTRACE_NBX(ucp_atomic_op_nbx);

UCTRACE_EXPORT ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void* buffer, size_t count,
                                            uint64_t remote_addr, ucp_rkey_h rkey,
                                            const ucp_request_param_t* param) {
  auto* original = original_ucp_put_nbx.get(UCTRACE_CALLER);
  const UcpFunction function = ucp::name_for(UcpFunction::put_nbx);
  return ucp::one_sided(function, ucp::tracking_of(function),
                        {ep, buffer, count, remote_addr, nullptr}, param,
                        [=](const ucp_request_param_t* handed) {
                          return original(ep, buffer, count, remote_addr, rkey, handed);
                        });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void* buffer, size_t count,
                                            uint64_t remote_addr, ucp_rkey_h rkey,
                                            const ucp_request_param_t* param) {
  auto* original = original_ucp_get_nbx.get(UCTRACE_CALLER);
  const UcpFunction function = ucp::name_for(UcpFunction::get_nbx);
  return ucp::one_sided(function, ucp::tracking_of(function),
                        {ep, buffer, count, remote_addr, nullptr}, param,
                        [=](const ucp_request_param_t* handed) {
                          return original(ep, buffer, count, remote_addr, rkey, handed);
                        });
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode,
                                                  const void* buffer, size_t count,
                                                  uint64_t remote_addr, ucp_rkey_h rkey,
                                                  const ucp_request_param_t* param) {
  auto* original = original_ucp_atomic_op_nbx.get(UCTRACE_CALLER);
  const UcpFunction function = ucp::name_for(UcpFunction::atomic_op_nbx);
  const bool own_form = function == UcpFunction::atomic_op_nbx;
  const bool fetches = (param->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) != 0;
  return ucp::one_sided(function, ucp::tracking_of(*param),
                        {ep, own_form ? buffer : nullptr, count, remote_addr,
                         fetches ? param->reply_buffer : nullptr},
                        param, [=](const ucp_request_param_t* handed) {
                          return original(ep, opcode, buffer, count, remote_addr, rkey, handed);
                        });
}

UCTRACE_OLDER(ucs_status_t, put,
              (ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey),
              (ep, buffer, length, remote, rkey))
UCTRACE_OLDER(ucs_status_ptr_t, put_nb,
              (ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
               ucp_send_callback_t callback),
              (ep, buffer, length, remote, rkey, callback))
UCTRACE_OLDER(ucs_status_t, put_nbi,
              (ucp_ep_h ep, const void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey),
              (ep, buffer, length, remote, rkey))
UCTRACE_OLDER(ucs_status_t, get,
              (ucp_ep_h ep, void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey),
              (ep, buffer, length, remote, rkey))
UCTRACE_OLDER(ucs_status_ptr_t, get_nb,
              (ucp_ep_h ep, void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
               ucp_send_callback_t callback),
              (ep, buffer, length, remote, rkey, callback))
UCTRACE_OLDER(ucs_status_t, get_nbi,
              (ucp_ep_h ep, void* buffer, size_t length, uint64_t remote, ucp_rkey_h rkey),
              (ep, buffer, length, remote, rkey))

// The one older form that does not call its nbx form in UCX 1.11.
UCTRACE_EXPORT ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode,
                                            uint64_t value, size_t size, uint64_t remote,
                                            ucp_rkey_h rkey) {
  const void* caller = UCTRACE_CALLER;
  static constinit interpose::Original<ucp::AtomicPost> original{"ucp_atomic_post"};
  auto* post = original.get(caller);
  if (ucp::posts_by_nbx(post, caller)) {
    const ucp::CalledAs as(UcpFunction::atomic_post);
    return post(ep, opcode, value, size, remote, rkey);
  }
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
  param.datatype = ucp_dt_make_contig(size);
  ucs_status_ptr_t const result =
      ucp::one_sided(ucp::name_for(UcpFunction::atomic_post), ucp::tracking_of(param),
                     {ep, nullptr, 1, remote, nullptr}, &param, [=](const ucp_request_param_t*) {
                       return UCS_STATUS_PTR(post(ep, opcode, value, size, remote, rkey));
                     });
  return UCS_PTR_STATUS(result);  // a macro that asks for its argument twice
}
UCTRACE_OLDER(ucs_status_ptr_t, atomic_fetch_nb,
              (ucp_ep_h ep, ucp_atomic_fetch_op_t opcode, uint64_t value, void* result, size_t size,
               uint64_t remote, ucp_rkey_h rkey, ucp_send_callback_t callback),
              (ep, opcode, value, result, size, remote, rkey, callback))
UCTRACE_OLDER(ucs_status_t, atomic_add32,
              (ucp_ep_h ep, uint32_t add, uint64_t remote, ucp_rkey_h rkey),
              (ep, add, remote, rkey))
UCTRACE_OLDER(ucs_status_t, atomic_add64,
              (ucp_ep_h ep, uint64_t add, uint64_t remote, ucp_rkey_h rkey),
              (ep, add, remote, rkey))
UCTRACE_OLDER(ucs_status_t, atomic_fadd32,
              (ucp_ep_h ep, uint32_t add, uint64_t remote, ucp_rkey_h rkey, uint32_t* result),
              (ep, add, remote, rkey, result))
UCTRACE_OLDER(ucs_status_t, atomic_fadd64,
              (ucp_ep_h ep, uint64_t add, uint64_t remote, ucp_rkey_h rkey, uint64_t* result),
              (ep, add, remote, rkey, result))
UCTRACE_OLDER(ucs_status_t, atomic_swap32,
              (ucp_ep_h ep, uint32_t swap, uint64_t remote, ucp_rkey_h rkey, uint32_t* result),
              (ep, swap, remote, rkey, result))
UCTRACE_OLDER(ucs_status_t, atomic_swap64,
              (ucp_ep_h ep, uint64_t swap, uint64_t remote, ucp_rkey_h rkey, uint64_t* result),
              (ep, swap, remote, rkey, result))
UCTRACE_OLDER(ucs_status_t, atomic_cswap32,
              (ucp_ep_h ep, uint32_t compare, uint32_t swap, uint64_t remote, ucp_rkey_h rkey,
               uint32_t* result),
              (ep, compare, swap, remote, rkey, result))
UCTRACE_OLDER(ucs_status_t, atomic_cswap64,
              (ucp_ep_h ep, uint64_t compare, uint64_t swap, uint64_t remote, ucp_rkey_h rkey,
               uint64_t* result),
              (ep, compare, swap, remote, rkey, result))
