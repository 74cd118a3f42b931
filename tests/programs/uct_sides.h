// Shared by the programs that use UCT of the scripted transport without UCP: two interfaces of one
// process, connected with each other.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uct/api/uct.h>

#include "../scripted-transport/scripted.h"

static const char* program;

// `near` posts; `far` is where its operations go.
struct side {
  uct_worker_h worker;
  uct_iface_h iface;
  uct_iface_attr_t attributes;
  uct_ep_h endpoint;  // to the other side
};

struct pair {
  uct_md_h domain;
  uct_md_attr_t domain_attributes;
  struct side near, far;
};

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s: %s failed\n", program, what);
  exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  fprintf(stderr, "%s: %s: %s\n", program, what, ucs_status_string(status));
  exit(1);
}

static uct_component_h find_component(const char* name) {
  uct_component_h* components;
  unsigned count;
  check_ucs(uct_query_components(&components, &count), "uct_query_components");
  uct_component_h found = NULL;
  for (unsigned i = 0; i < count; ++i) {
    uct_component_attr_t attributes = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    check_ucs(uct_component_query(components[i], &attributes), "uct_component_query");
    if (strcmp(attributes.name, name) == 0) found = components[i];
  }
  check(found != NULL, "finding the component");
  uct_release_component_list(components);
  return found;
}

static uct_md_h open_domain(const char* name) {
  uct_component_h component = find_component(name);
  uct_md_config_t* config;
  uct_md_h domain;
  check_ucs(uct_md_config_read(component, NULL, NULL, &config), "uct_md_config_read");
  check_ucs(uct_md_open(component, name, config, &domain), "uct_md_open");
  uct_config_release(config);
  return domain;
}

// The caller has set what it needs in `params` beyond transport and device.
static void open_interface(uct_md_h domain, ucs_async_context_t* async, const char* transport,
                           const char* device, uct_iface_params_t params, struct side* side) {
  uct_iface_config_t* config;
  params.field_mask |= UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
  params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
  params.mode.device.tl_name = transport;
  params.mode.device.dev_name = device;
  check_ucs(uct_worker_create(async, UCS_THREAD_MODE_SERIALIZED, &side->worker),
            "uct_worker_create");
  check_ucs(uct_md_iface_config_read(domain, transport, NULL, NULL, &config),
            "uct_md_iface_config_read");
  check_ucs(uct_iface_open(domain, side->worker, &params, config, &side->iface), "uct_iface_open");
  uct_config_release(config);
  check_ucs(uct_iface_query(side->iface, &side->attributes), "uct_iface_query");
  uct_iface_progress_enable(side->iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
}

static void connect_side(struct side* side, const struct side* other) {
  unsigned char device[64], address[64];
  check_ucs(uct_iface_get_device_address(other->iface, (uct_device_addr_t*)device),
            "device address");
  check_ucs(uct_iface_get_address(other->iface, (uct_iface_addr_t*)address), "interface address");
  const uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE |
                                                UCT_EP_PARAM_FIELD_DEV_ADDR |
                                                UCT_EP_PARAM_FIELD_IFACE_ADDR,
                                  .iface = side->iface,
                                  .dev_addr = (uct_device_addr_t*)device,
                                  .iface_addr = (uct_iface_addr_t*)address};
  check_ucs(uct_ep_create(&params, &side->endpoint), "uct_ep_create");
}

static void open_pair(struct pair* pair, ucs_async_context_t* async, const char* transport,
                      const char* device, uct_iface_params_t params) {
  pair->domain = open_domain("scripted");
  check_ucs(uct_md_query(pair->domain, &pair->domain_attributes), "uct_md_query");
  open_interface(pair->domain, async, transport, device, params, &pair->near);
  open_interface(pair->domain, async, transport, device, params, &pair->far);
  connect_side(&pair->near, &pair->far);
  connect_side(&pair->far, &pair->near);
}

static void progress_pair(struct pair* pair) {
  uct_worker_progress(pair->near.worker);
  uct_worker_progress(pair->far.worker);
}

static void close_one(struct side* side) {
  uct_ep_destroy(side->endpoint);
  uct_iface_close(side->iface);
  uct_worker_destroy(side->worker);
}

static void close_pair(struct pair* pair) {
  close_one(&pair->near);
  close_one(&pair->far);
  uct_md_close(pair->domain);
}
