// A plug-in that uses UCT without UCP: it sends short active messages to itself over the transport
// "self".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

enum { kMessages = 4, kId = 3 };

static unsigned arrived;

static void check(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  fprintf(stderr, "uct_plugin: %s failed\n", what);
  exit(1);
}

static ucs_status_t on_message(void* argument, void* data, size_t bytes, unsigned flags) {
  (void)argument, (void)data, (void)bytes, (void)flags;
  ++arrived;
  return UCS_OK;
}

static uct_md_h open_domain(void) {
  uct_component_h* all;
  unsigned count;
  uct_md_h domain = NULL;
  check(uct_query_components(&all, &count), "uct_query_components");
  for (unsigned i = 0; i < count && domain == NULL; ++i) {
    uct_component_attr_t attributes = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_md_config_t* config;
    check(uct_component_query(all[i], &attributes), "uct_component_query");
    if (strcmp(attributes.name, "self") != 0) continue;
    check(uct_md_config_read(all[i], NULL, NULL, &config), "uct_md_config_read");
    check(uct_md_open(all[i], "memory", config, &domain), "uct_md_open");
    uct_config_release(config);
  }
  uct_release_component_list(all);
  check(domain != NULL ? UCS_OK : UCS_ERR_NO_DEVICE, "looking for the transport");
  return domain;
}

static uct_iface_h open_interface(uct_md_h domain, uct_worker_h worker) {
  const uct_iface_params_t params = {
      .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
      .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
      .mode.device = {.tl_name = "self", .dev_name = "memory"}};
  uct_iface_config_t* config;
  uct_iface_h interface;
  check(uct_md_iface_config_read(domain, "self", NULL, NULL, &config), "uct_md_iface_config_read");
  check(uct_iface_open(domain, worker, &params, config, &interface), "uct_iface_open");
  uct_config_release(config);
  return interface;
}

static void send_to_self(uct_iface_h interface) {
  uct_iface_attr_t sizes;
  check(uct_iface_query(interface, &sizes), "uct_iface_query");
  void *device = calloc(1, sizes.device_addr_len + 1),
       *address = calloc(1, sizes.iface_addr_len + 1);
  check(uct_iface_get_device_address(interface, device), "uct_iface_get_device_address");
  check(uct_iface_get_address(interface, address), "uct_iface_get_address");
  const uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE |
                                                UCT_EP_PARAM_FIELD_DEV_ADDR |
                                                UCT_EP_PARAM_FIELD_IFACE_ADDR,
                                  .iface = interface,
                                  .dev_addr = device,
                                  .iface_addr = address};
  uct_ep_h endpoint;
  check(uct_ep_create(&params, &endpoint), "uct_ep_create");
  for (unsigned i = 0; i < kMessages; ++i) {
    check(uct_ep_am_short(endpoint, kId, i, NULL, 0), "uct_ep_am_short");
  }
  uct_ep_destroy(endpoint);
  free(device);
  free(address);
}

// Returns the number of messages that arrived.
__attribute__((visibility("default"))) int use_ucx(void) {
  ucs_async_context_t* async;
  uct_worker_h worker;
  arrived = 0;
  check(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async),
        "ucs_async_context_create");
  check(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker), "uct_worker_create");
  const uct_md_h domain = open_domain();
  const uct_iface_h interface = open_interface(domain, worker);
  check(uct_iface_set_am_handler(interface, kId, on_message, NULL, 0), "uct_iface_set_am_handler");
  send_to_self(interface);
  uct_iface_close(interface);
  uct_md_close(domain);
  uct_worker_destroy(worker);
  ucs_async_context_destroy(async);
  return (int)arrived;
}
