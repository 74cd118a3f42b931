// The part of UCX that the tests call: a loopback transport whose operations end on other threads,
// and a UCP of which each third operation ends at return, inside its call, and later.
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/sanitizers/late.hpp"
#include "tests/sanitizers/stand_in.hpp"

#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace {

Late* late = nullptr;  // not ended with the process, whose threads may use it to the last

// --- UCT -----------------------------------------------------------------------------------------

struct Interface {
  uct_iface_t base;  // first: UCT casts
  uct_am_callback_t handlers[32];
  void* arguments[32];
};

struct Endpoint {
  uct_ep_t base;
};

void complete(uct_completion_t* completion) {
  if (--completion->count == 0) {
    completion->func(completion);
  }
}

ucs_status_t end_later(uct_completion_t* completion) {
  if (completion != nullptr) {
    late->give([=] { complete(completion); });
  }
  return UCS_INPROGRESS;
}

Interface* interface_of(uct_ep_h ep) { return reinterpret_cast<Interface*>(ep->iface); }

ucs_status_t put_short(uct_ep_h, const void*, unsigned, std::uint64_t, uct_rkey_t) {
  return UCS_OK;
}
ucs_status_t put_zcopy(uct_ep_h, const uct_iov_t*, std::size_t, std::uint64_t, uct_rkey_t,
                       uct_completion_t* completion) {
  return end_later(completion);
}
ucs_status_t get_zcopy(uct_ep_h, const uct_iov_t*, std::size_t, std::uint64_t, uct_rkey_t,
                       uct_completion_t* completion) {
  return end_later(completion);
}
ucs_status_t flush(uct_ep_h, unsigned, uct_completion_t* completion) {
  return end_later(completion);
}
ucs_status_t am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header, const void* payload,
                      unsigned length) {
  unsigned char message[256];
  memcpy(message, &header, sizeof header);
  memcpy(message + sizeof header, payload, length);
  const Interface* self = interface_of(ep);
  return self->handlers[id](self->arguments[id], message, sizeof header + length, 0);
}
ssize_t am_bcopy(uct_ep_h, std::uint8_t, uct_pack_callback_t pack, void* argument, unsigned) {
  unsigned char message[256];
  return static_cast<ssize_t>(pack(message, argument));
}
// The handle is the caller's completion: a new one for each operation, as a transport's is.
ucs_status_ptr_t rendezvous(uct_ep_h, uct_tag_t, const void*, unsigned, const uct_iov_t*,
                            std::size_t, unsigned, uct_completion_t* completion) {
  end_later(completion);
  return completion;
}

void dispatch(uct_pending_req_t* request) {
  if (request->func(request) != UCS_OK) {
    late->give([=] { dispatch(request); });
  }
}
ucs_status_t pending_add(uct_ep_h, uct_pending_req_t* request, unsigned) {
  late->give([=] { dispatch(request); });
  return UCS_OK;
}
void pending_purge(uct_ep_h, uct_pending_purge_callback_t, void*) {}

ucs_status_t query(uct_iface_h, uct_iface_attr_t* attributes) {
  memset(attributes, 0, sizeof *attributes);
  return UCS_OK;
}
void close_interface(uct_iface_h handle) { delete reinterpret_cast<Interface*>(handle); }
void destroy_endpoint(uct_ep_h) {}
ucs_status_t device_address(uct_iface_h, uct_device_addr_t*) { return UCS_OK; }

}  // namespace

STAND_IN void stand_in_start() { late = new Late(2); }
STAND_IN void stand_in_stop() {
  delete late;
  late = nullptr;
}

STAND_IN ucs_status_t uct_md_open(uct_component_h, const char*, const uct_md_config_t*,
                                  uct_md_h* domain) {
  return *domain = nullptr, UCS_OK;
}
STAND_IN ucs_status_t uct_iface_open(uct_md_h, uct_worker_h, const uct_iface_params_t*,
                                     const uct_iface_config_t*, uct_iface_h* handle) {
  auto* made = new Interface{};
  uct_iface_ops_t& ops = made->base.ops;
  ops.ep_put_short = put_short;
  ops.ep_put_zcopy = put_zcopy;
  ops.ep_get_zcopy = get_zcopy;
  ops.ep_am_short = am_short;
  ops.ep_am_bcopy = am_bcopy;
  ops.ep_flush = flush;
  ops.ep_tag_rndv_zcopy = rendezvous;
  ops.ep_pending_add = pending_add;
  ops.ep_pending_purge = pending_purge;
  ops.ep_destroy = destroy_endpoint;
  ops.iface_close = close_interface;
  ops.iface_query = query;
  ops.iface_get_device_address = device_address;
  *handle = &made->base;
  return UCS_OK;
}
STAND_IN void uct_iface_close(uct_iface_h handle) { handle->ops.iface_close(handle); }
STAND_IN ucs_status_t uct_iface_set_am_handler(uct_iface_h handle, std::uint8_t id,
                                               uct_am_callback_t callback, void* argument,
                                               std::uint32_t) {
  auto* self = reinterpret_cast<Interface*>(handle);
  self->handlers[id] = callback;
  self->arguments[id] = argument;
  return UCS_OK;
}
STAND_IN ucs_status_t uct_ep_create(const uct_ep_params_t* params, uct_ep_h* endpoint) {
  auto* made = new Endpoint{{params->iface}};
  return *endpoint = &made->base, UCS_OK;
}
STAND_IN void uct_ep_destroy(uct_ep_h endpoint) { delete reinterpret_cast<Endpoint*>(endpoint); }

// --- what UCX knows of memory --------------------------------------------------------------------

namespace {

struct MemoryEvent {
  void* begin;
  std::size_t bytes;
};
using OnMemory = void (*)(int, MemoryEvent*, void*);
OnMemory on_memory = nullptr;
void* on_memory_argument = nullptr;
std::atomic<bool (*)(const void*)> is_device{nullptr};

struct MemoryInfo {
  int type;
  std::uint8_t device;
  void* begin;
  std::size_t bytes;
};

}  // namespace

STAND_IN void stand_in_memory_types(bool (*told)(const void*)) { is_device = told; }
STAND_IN void stand_in_memory_event(bool allocated, void* begin, unsigned long bytes) {
  MemoryEvent event{begin, bytes};
  if (on_memory != nullptr) on_memory(allocated ? 1 << 20 : 1 << 21, &event, on_memory_argument);
}
STAND_IN int ucm_set_event_handler(int, int, OnMemory handler, void* argument) {
  on_memory = handler;
  on_memory_argument = argument;
  return 0;
}
STAND_IN ucs_status_t ucs_memtype_cache_lookup(const void* address, std::size_t, MemoryInfo* info) {
  auto* told = is_device.load();
  if (told == nullptr || !told(address)) return UCS_ERR_NO_ELEM;
  info->type = UCS_MEMORY_TYPE_CUDA;
  info->device = kStandInDevice;
  return UCS_OK;
}

// --- UCP -----------------------------------------------------------------------------------------

namespace {

// As UCP does before it posts.
void detect(const void* buffer) {
  MemoryInfo info;
  ucs_memtype_cache_lookup(buffer, 1, &info);
}

struct Worker {
  uct_iface_h interface;
  uct_ep_h endpoint;
  std::atomic<unsigned> calls;
};

// A request; the program's handle is its address.
struct Request {
  std::atomic<ucs_status_t> status{UCS_INPROGRESS};
  std::atomic<int> owners{2};  // UCP until the end, the program until it frees it

  void drop() {
    if (owners.fetch_sub(1) == 1) {
      delete this;
    }
  }
};

Worker* worker_of(ucp_ep_h endpoint) { return reinterpret_cast<Worker*>(endpoint); }

void tell_send(Request* request, const ucp_request_param_t& param) {
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0) {
    param.cb.send(request, UCS_OK, param.user_data);
  }
}
void tell_receive(Request* request, const ucp_request_param_t& param) {
  const ucp_tag_recv_info_t info{1, 8};
  if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) != 0) {
    param.cb.recv(request, UCS_OK, &info, param.user_data);
  }
}

// What UCP posts for the operation ends first, on another thread; then the operation itself.
struct Transfer {
  uct_completion_t completion;
  Request* request;
  ucp_request_param_t param;
  void (*tell)(Request*, const ucp_request_param_t&);
};

void end(Request* request, const ucp_request_param_t& param,
         void (*tell)(Request*, const ucp_request_param_t&)) {
  request->status = UCS_OK;
  tell(request, param);
  request->drop();
}

void end_transfer(uct_completion_t* completion) {
  const std::unique_ptr<Transfer> transfer(reinterpret_cast<Transfer*>(completion));
  end(transfer->request, transfer->param, transfer->tell);
}

ucs_status_ptr_t operate(Worker& worker, const ucp_request_param_t* param,
                         void (*tell)(Request*, const ucp_request_param_t&)) {
  const unsigned call = worker.calls.fetch_add(1);
  const bool must_tell = (param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) != 0;
  if (call % 3 == 0 && !must_tell) {
    uct_ep_put_short(worker.endpoint, nullptr, 0, 0, 0);
    return nullptr;
  }
  auto* request = new Request;
  if (call % 3 != 2) {
    uct_ep_put_short(worker.endpoint, nullptr, 0, 0, 0);
    end(request, *param, tell);
    return request;
  }
  auto* transfer = new Transfer{{end_transfer, 1, UCS_OK}, request, *param, tell};
  uct_ep_put_zcopy(worker.endpoint, nullptr, 0, 0, 0, &transfer->completion);
  return request;
}

}  // namespace

// Older than the first UCX whose table of protocols is read.
STAND_IN void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 12;
  *release = 0;
}
STAND_IN ucs_status_t ucp_context_query(ucp_context_h, ucp_context_attr_t* attributes) {
  attributes->request_size = 280;
  return UCS_OK;
}
STAND_IN ucs_status_t ucp_worker_create(ucp_context_h, const ucp_worker_params_t*,
                                        ucp_worker_h* handle) {
  auto* worker = new Worker{};
  uct_iface_params_t params{};
  params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
  params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
  params.mode.device = {"self", "memory"};
  uct_iface_open(nullptr, nullptr, &params, nullptr, &worker->interface);
  uct_ep_params_t to_self{};
  to_self.field_mask = UCT_EP_PARAM_FIELD_IFACE;
  to_self.iface = worker->interface;
  uct_ep_create(&to_self, &worker->endpoint);
  *handle = reinterpret_cast<ucp_worker_h>(worker);
  return UCS_OK;
}
STAND_IN void ucp_worker_destroy(ucp_worker_h handle) {
  auto* worker = reinterpret_cast<Worker*>(handle);
  uct_ep_destroy(worker->endpoint);
  uct_iface_close(worker->interface);
  delete worker;
}
STAND_IN ucs_status_t ucp_worker_get_address(ucp_worker_h, ucp_address_t** address,
                                             std::size_t* length) {
  *address = nullptr;
  *length = 0;
  return UCS_OK;
}
STAND_IN void ucp_worker_release_address(ucp_worker_h, ucp_address_t*) {}
STAND_IN ucs_status_t ucp_worker_address_query(ucp_address_t*,
                                               ucp_worker_address_attr_t* attributes) {
  attributes->worker_uid = 77;
  return UCS_OK;
}
STAND_IN ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t*,
                                    ucp_ep_h* endpoint) {
  return *endpoint = reinterpret_cast<ucp_ep_h>(worker), UCS_OK;
}
// The handle is the memory; its size is known only for the last one.
constinit std::atomic<std::size_t> mapped_bytes{0};
STAND_IN ucs_status_t ucp_mem_map(ucp_context_h, const ucp_mem_map_params_t* params,
                                  ucp_mem_h* memory) {
  mapped_bytes = params->length;
  return *memory = static_cast<ucp_mem_h>(params->address), UCS_OK;
}
STAND_IN ucs_status_t ucp_mem_query(ucp_mem_h memory, ucp_mem_attr_t* attributes) {
  attributes->address = memory;
  attributes->length = mapped_bytes;
  return UCS_OK;
}
STAND_IN ucs_status_t ucp_mem_unmap(ucp_context_h, ucp_mem_h) { return UCS_OK; }
STAND_IN ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, std::size_t,
                                           ucp_tag_t, const ucp_request_param_t* param) {
  detect(buffer);
  return operate(*worker_of(endpoint), param, tell_send);
}
STAND_IN ucs_status_ptr_t ucp_put_nbx(ucp_ep_h endpoint, const void*, std::size_t, std::uint64_t,
                                      ucp_rkey_h, const ucp_request_param_t* param) {
  return operate(*worker_of(endpoint), param, tell_send);
}
STAND_IN ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void*, std::size_t, ucp_tag_t,
                                           ucp_tag_t, const ucp_request_param_t* param) {
  return operate(*reinterpret_cast<Worker*>(worker), param, tell_receive);
}
STAND_IN ucs_status_t ucp_request_check_status(void* request) {
  return static_cast<Request*>(request)->status;
}
STAND_IN void ucp_request_free(void* request) { static_cast<Request*>(request)->drop(); }
STAND_IN void ucp_request_release(void* request) { static_cast<Request*>(request)->drop(); }
