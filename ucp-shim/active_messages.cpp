// UCP active messages: sends, the calls of the program's handlers, and the receives of data that a
// handler only got a descriptor of.
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/called_as.hpp"
#include "ucp-shim/counted_peers.hpp"
#include "ucp-shim/handlers.hpp"
#include "ucp-shim/left_out_operations.hpp"
#include "ucp-shim/requests.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;
using log::UcpFunction;

struct Handler {
  std::atomic<std::uintptr_t> worker;  // 0: free
  unsigned id;
  union {
    ucp_am_callback_t older;
    ucp_am_recv_callback_t callback;
  };
  void* argument;
};

// Programs seldom set a handler. One that is set again gets a new place: calls may still run in the
// old one.
constexpr std::size_t kMaxHandlers = 4096;
constinit Handler handlers[kMaxHandlers]{};

// Marks a worker that is being destroyed. UCP hands messages over until it is gone, and then
// another worker may get its address before we know.
constexpr std::uintptr_t kEnding = 1;

// A place of its own for a handler; nullptr: all are taken.
Handler* take_place(ucp_worker_h worker) {
  for (Handler& handler : handlers) {
    std::uintptr_t nobody = 0;
    if (handler.worker.load(std::memory_order_relaxed) == 0 &&
        handler.worker.compare_exchange_strong(nobody, reinterpret_cast<std::uintptr_t>(worker),
                                               std::memory_order_acq_rel)) {
      return &handler;
    }
  }
  log::fault(log::Layer::ucp, log::FaultCode::out_of_handlers, kMaxHandlers,
             "more active message handlers than there is room for");
  return nullptr;
}

struct Arrived {
  const Handler& handler;
  const void* data;
  std::size_t length, header_length;
};

template <typename Invoke>
ucs_status_t on_arrival(const Arrived& arrived, Invoke invoke) {
  if (log::Lane* lane = lane_of_left_out()) {
    leave_out(*lane, log::UcpFamily::am_receive);
    return invoke();
  }
  RequestParam handed;
  Call call(UcpFunction::am_handler, log::UcpFamily::am_receive, nullptr, handed,
            Tracking::at_return);
  // What the handler itself asks of UCP belongs to the handler; what UCP posts meanwhile belongs to
  // the arrival.
  const ucs_status_t status = invoke();
  if (call.active()) {
    // Whether the program keeps the data or refuses it: the message has arrived.
    call.finish(UCS_STATUS_PTR(UCS_OK),
                {.handle = arrived.handler.worker.load(std::memory_order_relaxed) & ~kEnding,
                 .buffer = arrived.data,
                 .bytes = arrived.length,
                 .bytes_known = true,
                 .am_id = arrived.handler.id,
                 .header_bytes = arrived.header_length,
                 .posted_tick = 0});
  }
  return status;
}

ucs_status_t on_older_arrival(void* argument, void* data, std::size_t length, ucp_ep_h reply,
                              unsigned flags) {
  const auto& handler = *static_cast<const Handler*>(argument);
  return on_arrival({handler, data, length, 0},
                    [&] { return handler.older(handler.argument, data, length, reply, flags); });
}

ucs_status_t on_new_arrival(void* argument, const void* header, std::size_t header_length,
                            void* data, std::size_t length, const ucp_am_recv_param_t* param) {
  const auto& handler = *static_cast<const Handler*>(argument);
  return on_arrival({handler, data, length, header_length}, [&] {
    return handler.callback(handler.argument, header, header_length, data, length, param);
  });
}

// Bits of UCX 1.13; a newer caller's further fields are handed down as they are.
bool known(const ucp_am_handler_param_t& param) {
  constexpr std::uint64_t kNeeded = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
  constexpr std::uint64_t kAll =
      kNeeded | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  return (param.field_mask & kNeeded) == kNeeded && (param.field_mask & ~kAll) == 0 &&
         param.cb != nullptr;
}

void change_worker(std::uintptr_t from, std::uintptr_t to) {
  for (Handler& handler : handlers) {
    if (handler.worker.load(std::memory_order_relaxed) == from) {
      handler.worker.store(to, std::memory_order_release);
    }
  }
}

// Where UCX stores the length of a receive of data that ends inside its call: where the caller
// wants it, else in `own`.
const std::size_t* ask_for_length(const ucp_request_param_t& param, RequestParam& handed,
                                  std::size_t& own) {
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) != 0) return param.recv_info.length;
  handed.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
  handed.recv_info.length = &own;
  return &own;
}

}  // namespace

HandlersOf::HandlersOf(ucp_worker_h worker)
    : ending_(reinterpret_cast<std::uintptr_t>(worker) | kEnding) {
  change_worker(ending_ & ~kEnding, ending_);
}

HandlersOf::~HandlersOf() { change_worker(ending_, 0); }

}  // namespace uctrace::ucp

using namespace uctrace;
using log::UcpFunction;

#define UCTRACE_CALLER __builtin_return_address(0)
#define UCTRACE_ORIGINAL(name) \
  static constinit interpose::Original<decltype(&::name)> original_##name { #name }

UCTRACE_ORIGINAL(ucp_am_send_nb);
UCTRACE_ORIGINAL(ucp_am_send_nbx);
UCTRACE_ORIGINAL(ucp_am_recv_data_nbx);
UCTRACE_ORIGINAL(ucp_worker_set_am_handler);
UCTRACE_ORIGINAL(ucp_worker_set_am_recv_handler);

UCTRACE_EXPORT ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id,
                                                      ucp_am_callback_t callback, void* argument,
                                                      uint32_t flags) {
  auto* original = original_ucp_worker_set_am_handler.get(UCTRACE_CALLER);
  ucp::Handler* handler = callback != nullptr && ucp::layer_on() && !log::counts_only()
                              ? ucp::take_place(worker)
                              : nullptr;
  if (handler == nullptr) {
    return original(worker, id, callback, argument, flags);
  }
  handler->id = id;
  handler->older = callback;
  handler->argument = argument;
  return original(worker, id, ucp::on_older_arrival, handler, flags);
}

UCTRACE_EXPORT ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                                           const ucp_am_handler_param_t* param) {
  auto* original = original_ucp_worker_set_am_recv_handler.get(UCTRACE_CALLER);
  ucp::Handler* handler = ucp::layer_on() && !log::counts_only() && ucp::known(*param)
                              ? ucp::take_place(worker)
                              : nullptr;
  if (handler == nullptr) {
    return original(worker, param);
  }
  const bool has_argument = (param->field_mask & UCP_AM_HANDLER_PARAM_FIELD_ARG) != 0;
  handler->id = param->id;
  handler->callback = param->cb;
  handler->argument = has_argument ? param->arg : nullptr;
  ucp_am_handler_param_t own = *param;
  own.field_mask |= UCP_AM_HANDLER_PARAM_FIELD_ARG;
  own.cb = ucp::on_new_arrival;
  own.arg = handler;
  return original(worker, &own);
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void* header,
                                                size_t header_length, const void* buffer,
                                                size_t count, const ucp_request_param_t* param) {
  auto* original = original_ucp_am_send_nbx.get(UCTRACE_CALLER);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    return ucp::post_left_out(*lane, log::UcpFamily::am_send, [=] {
      return original(ep, id, header, header_length, buffer, count, param);
    });
  }
  ucp::RequestParam handed;
  ucp::Call call(ucp::name_for(UcpFunction::am_send_nbx), log::UcpFamily::am_send, param, handed);
  if (!call.active() && !ucp::counts_operations()) {
    return original(ep, id, header, header_length, buffer, count, param);
  }
  bool known;
  const std::uint64_t bytes = ucp::buffer_bytes(param, buffer, count, call.id(), &known);
  const std::uint64_t payload = header_length + bytes;  // as log-merger counts that of a message
  const ucp::CountedMemory memory = ucp::counted_memory(param, buffer, count);
  ucs_status_ptr_t result;
  if (!call.active()) {
    result = original(ep, id, header, header_length, buffer, count, param);
    ucp::count_sent(memory, result, bytes);
    return ucp::count_untagged_send(ucp::pass_untracked(result), ep, payload);
  }
  {
    const uct::ContextScope scope({call.id(), log::Origin::ucp, log::Route::call});
    result = original(ep, id, header, header_length, buffer, count, call.handed(param));
  }
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(ep),
                       .buffer = buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .am_id = id,
                       .header_bytes = header_length,
                       .posted_tick = 0});
  ucp::count_sent(memory, result, bytes);
  if (ucp::counts_operations()) ucp::count_untagged_send(result, ep, payload);
  return result;
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void* payload,
                                               size_t count, ucp_datatype_t datatype,
                                               ucp_send_callback_t callback, unsigned flags) {
  const ucp::CalledAs name(UcpFunction::am_send_nb);
  return original_ucp_am_send_nb.get(UCTRACE_CALLER)(ep, id, payload, count, datatype, callback,
                                                     flags);
}

template <bool kCountsMemory>
static ucs_status_ptr_t receive_data(ucp_worker_h worker, void* data, void* buffer, size_t count,
                                     const ucp_request_param_t* param, const void* caller) {
  auto* original = original_ucp_am_recv_data_nbx.get(caller);
  if (log::Lane* lane = ucp::lane_of_left_out()) {
    return ucp::post_left_out(*lane, log::UcpFamily::am_receive_data,
                              [=] { return original(worker, data, buffer, count, param); });
  }
  constexpr UcpFunction kFunction = UcpFunction::am_recv_data_nbx;
  ucp::RequestParam handed;
  const ucp::CountedMemory alone =
      kCountsMemory ? ucp::detail::memory_if_only_counted(kFunction, param, buffer, count)
                    : ucp::kNotCounted;
  ucp::Call call(kFunction, log::UcpFamily::am_receive_data, param, handed, ucp::Tracking::callback,
                 alone);
  if (!call.active()) {
    return ucp::pass_untracked(original(worker, data, buffer, count, param));
  }
  std::size_t own_length = ucp::kNotTold;
  const std::size_t* length = &own_length;
  if (kCountsMemory) {
    if (call.id() != 0) call.count(ucp::find_counted_memory(param, buffer, count));
    if (call.counted() != ucp::kNotCounted) {
      length = ucp::ask_for_length(*param, call.parameters(), own_length);
    }
  }
  bool known;
  const std::uint64_t bytes = ucp::buffer_bytes(param, buffer, count, call.id(), &known);
  const ucs_status_ptr_t result = ucp::post_receive<kCountsMemory>(
      call, [&] { return original(worker, data, buffer, count, call.handed(param)); });
  call.finish(result, {.handle = reinterpret_cast<std::uint64_t>(worker),
                       .buffer = buffer,
                       .bytes = bytes,
                       .bytes_known = known,
                       .data = reinterpret_cast<std::uint64_t>(data),
                       .header_bytes = 0,
                       .posted_tick = 0});
  if (kCountsMemory && result == nullptr) ucp::count_received_at_return(call.counted(), length);
  return result;
}

UCTRACE_EXPORT ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* data, void* buffer,
                                                     size_t count,
                                                     const ucp_request_param_t* param) {
  return ucp::counts_memory()
             ? receive_data<true>(worker, data, buffer, count, param, UCTRACE_CALLER)
             : receive_data<false>(worker, data, buffer, count, param, UCTRACE_CALLER);
}
