#include <string.h>

#include "fake_stack.h"

static struct {
  uct_am_callback_t callback;
  void* argument;
} handlers[UCT_AM_ID_MAX];
static uct_completion_t* in_progress;

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header, const void* payload,
                             unsigned length) {
  (void)ep, (void)payload, (void)length;
  uint64_t message[2] = {header, 0};
  if (handlers[id].callback != NULL) fake_uct_arrive(id, message, sizeof message);
  return UCS_OK;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack, void* argument,
                        unsigned flags) {
  (void)ep, (void)id, (void)flags;
  static uint64_t room[16];
  return (ssize_t)pack(room, argument);
}

static ucs_status_t am_zcopy(uct_ep_h ep, uint8_t id, const void* header, unsigned header_length,
                             const uct_iov_t* iov, size_t count, unsigned flags,
                             uct_completion_t* completion) {
  (void)ep, (void)id, (void)header, (void)header_length, (void)iov, (void)count, (void)flags;
  in_progress = completion;
  return UCS_INPROGRESS;
}

static ucs_status_t put_short(uct_ep_h ep, const void* buffer, unsigned length, uint64_t remote,
                              uct_rkey_t rkey) {
  (void)ep, (void)buffer, (void)length, (void)remote, (void)rkey;
  return UCS_OK;
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t* request, unsigned flags) {
  (void)ep, (void)request, (void)flags;
  return UCS_ERR_BUSY;
}

static ucs_status_t query(uct_iface_h iface, uct_iface_attr_t* attributes) {
  (void)iface;
  memset(attributes, 0, sizeof *attributes);
  return UCS_OK;
}

static ucs_status_t device_address(uct_iface_h iface, uct_device_addr_t* address) {
  (void)iface, (void)address;
  return UCS_OK;
}

static void destroy(uct_ep_h ep) { (void)ep; }
static void close_interface(uct_iface_h iface) { (void)iface; }

static uct_iface_t interface = {.ops = {.ep_am_short = am_short,
                                        .ep_am_bcopy = am_bcopy,
                                        .ep_am_zcopy = am_zcopy,
                                        .ep_put_short = put_short,
                                        .ep_pending_add = pending_add,
                                        .ep_destroy = destroy,
                                        .iface_close = close_interface,
                                        .iface_query = query,
                                        .iface_get_device_address = device_address}};
uct_ep_t fake_uct_endpoint = {&interface};

// The device is memory, as that of shared-memory transports.
ucs_status_t uct_md_query_tl_resources(uct_md_h domain, uct_tl_resource_desc_t** resources,
                                       unsigned* count) {
  static uct_tl_resource_desc_t memory = {
      .tl_name = "fake", .dev_name = "none", .dev_type = UCT_DEVICE_TYPE_SHM};
  (void)domain;
  *resources = &memory;
  *count = 1;
  return UCS_OK;
}

void uct_release_tl_resource_list(uct_tl_resource_desc_t* resources) { (void)resources; }

ucs_status_t uct_iface_open(uct_md_h domain, uct_worker_h worker, const uct_iface_params_t* params,
                            const uct_iface_config_t* config, uct_iface_h* iface) {
  (void)domain, (void)worker, (void)params, (void)config;
  *iface = &interface;
  return UCS_OK;
}

void uct_iface_close(uct_iface_h iface) { iface->ops.iface_close(iface); }

ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, uint8_t id, uct_am_callback_t callback,
                                      void* argument, uint32_t flags) {
  (void)iface, (void)flags;
  handlers[id].callback = callback;
  handlers[id].argument = argument;
  return UCS_OK;
}

void fake_uct_arrive(uint8_t am_id, void* data, size_t length) {
  handlers[am_id].callback(handlers[am_id].argument, data, length, 0);
}

void fake_uct_complete(void) {
  if (--in_progress->count == 0) in_progress->func(in_progress);
}
