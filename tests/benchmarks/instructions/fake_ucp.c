#include <string.h>

#include "fake_stack.h"

enum { kEagerOnly = 2 };  // UCP_AM_ID_EAGER_ONLY

struct FakeStack fake_stack;

// The only request.
static struct {
  ucp_request_param_t param;
  ucp_tag_t tag;
  bool is_receive;
} request;

static ucs_status_ptr_t start(const ucp_request_param_t* param, ucp_tag_t tag, bool is_receive) {
  request.param = *param;
  request.tag = tag;
  request.is_receive = is_receive;
  return &request;
}

void fake_ucp_complete(void) {
  const ucp_request_param_t* param = &request.param;
  if (request.is_receive) {
    const ucp_tag_recv_info_t info = {request.tag, 8};
    param->cb.recv(&request, UCS_OK, &info, param->user_data);
  } else {
    param->cb.send(&request, UCS_OK, param->user_data);
  }
}

static ucs_status_t on_message(void* argument, void* data, size_t length, unsigned flags) {
  (void)argument, (void)data, (void)length, (void)flags;
  fake_ucp_complete();
  return UCS_OK;
}

static ucs_status_t ignore_message(void* argument, void* data, size_t length, unsigned flags) {
  (void)argument, (void)data, (void)length, (void)flags;
  return UCS_OK;
}

// A release whose protocols are not looked up inside the library: the shims know its request
// layout, and find no unexpected table.
void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 12;
  *release = 0;
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attributes) {
  (void)context;
  attributes->request_size = 280;
  return UCS_OK;
}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t* params,
                               ucp_worker_h* worker) {
  (void)context, (void)params;
  const uct_iface_params_t device = {
      .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
      .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
      .mode.device = {.tl_name = "fake", .dev_name = "none"}};
  uct_iface_h iface;
  uct_iface_open((uct_md_h)&request, NULL, &device, NULL, &iface);
  uct_iface_set_am_handler(iface, kEagerOnly, on_message, NULL, 0);
  uct_iface_set_am_handler(iface, UCT_AM_ID_MAX - 1, ignore_message, NULL, 0);
  *worker = (ucp_worker_h)&request;
  return UCS_OK;
}

void ucp_worker_destroy(ucp_worker_h worker) {
  (void)worker;
  uct_iface_close(fake_uct_endpoint.iface);
}

ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t** address, size_t* length) {
  (void)worker;
  *address = (ucp_address_t*)&request;
  *length = 8;
  return UCS_OK;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t* address) {
  (void)worker, (void)address;
}

ucs_status_t ucp_worker_address_query(ucp_address_t* address,
                                      ucp_worker_address_attr_t* attributes) {
  (void)address;
  attributes->worker_uid = 1;
  return UCS_OK;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void* buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t* param) {
  (void)ep;
  if (fake_stack.ucp_uses_uct) {
    uct_ep_am_short(&fake_uct_endpoint, kEagerOnly, tag, buffer, (unsigned)count);
  }
  return fake_stack.ends_later ? start(param, tag, false) : NULL;
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t* param) {
  (void)worker, (void)buffer, (void)count, (void)mask;
  return start(param, tag, true);
}

void ucp_request_free(void* freed) { (void)freed; }
