// The internals of libuct that a transport needs and that are not in the installed headers. UCX has
// no interface for external transports, so these are the layouts of src/uct/base/uct_component.h,
// uct_md.h and uct_iface.h and of src/uct/api/v2/uct_v2.h, repeated as far as needed, for the
// version of UCX whose headers this is compiled with. check_layouts.py compares them with UCX's own
// headers where a source tree of UCX is at hand.
#pragma once

#include <ucs/config/parser.h>
#include <uct/api/uct.h>
#include <uct/api/version.h>

#include <cstddef>
#include <cstdint>

extern "C" {

struct uct_component;
struct uct_md;
struct uct_md_ops;

// uct_v2.h
struct uct_md_mem_dereg_params {
  std::uint64_t field_mask;  // 1: memh, 2: flags, 4: completion
  unsigned flags;
  uct_mem_h memh;
  uct_completion_t* comp;
};

struct uct_md {
  uct_md_ops* ops;
  uct_component* component;
};

struct uct_component {
  char name[UCT_COMPONENT_NAME_MAX];  // const in 1.18, where it comes from an initializer
  ucs_status_t (*query_md_resources)(uct_component* component, uct_md_resource_desc_t** resources,
                                     unsigned* count);
  ucs_status_t (*md_open)(uct_component* component, const char* name, const uct_md_config_t* config,
                          uct_md_h* md);
  ucs_status_t (*cm_open)(uct_component* component, uct_worker_h worker, const void* config,
                          uct_cm_h* cm);
#if UCT_VERNO_MINOR >= 23
  ucs_status_t (*rkey_unpack)(uct_component* component, const void* buffer, const void* params,
                              uct_rkey_t* rkey, void** handle);
#else
  ucs_status_t (*rkey_unpack)(uct_component* component, const void* buffer, uct_rkey_t* rkey,
                              void** handle);
#endif
  ucs_status_t (*rkey_ptr)(uct_component* component, uct_rkey_t rkey, void* handle,
                           std::uint64_t remote, void** local);
  ucs_status_t (*rkey_release)(uct_component* component, uct_rkey_t rkey, void* handle);
#if UCT_VERNO_MINOR >= 18
  ucs_status_t (*rkey_compare)(uct_component* component, uct_rkey_t one, uct_rkey_t other,
                               const void* params, int* result);
#endif
  ucs_config_global_list_entry_t md_config;
  ucs_config_global_list_entry_t cm_config;
  ucs_list_link_t tl_list;
  ucs_list_link_t list;
  std::uint64_t flags;
  void (*md_vfs_init)(uct_md_h md);
};

struct uct_tl_device_resource {
  char name[UCT_DEVICE_NAME_MAX];
  uct_device_type_t type;
  ucs_sys_device_t sys_device;
};

struct uct_tl {
  char name[UCT_TL_NAME_MAX];
  ucs_status_t (*query_devices)(uct_md_h md, uct_tl_device_resource** devices, unsigned* count);
  ucs_status_t (*iface_open)(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                             const uct_iface_config_t* config, uct_iface_h* iface);
  ucs_config_global_list_entry_t config;
  ucs_list_link_t list;
};

// The head of every interface, which libuct itself reads and writes: uct_iface_set_am_handler and
// _set_am_tracer fill it, uct_iface_estimate_perf calls through `internal_ops`. libuct's own
// transports have more of it behind, which only they use.
struct uct_base_iface {
  uct_iface_t super;
  const void* internal_ops;
  uct_md_h md;
  void* worker;
  struct {
    uct_am_callback_t cb;
    void* arg;
    std::uint32_t flags;
  } am[UCT_AM_ID_MAX];
  uct_am_tracer_t am_tracer;
  void* am_tracer_arg;
};

void uct_component_register(uct_component* component);
void uct_tl_register(uct_component* component, uct_tl* transport);
ucs_status_t uct_md_query_single_md_resource(uct_component* component,
                                             uct_md_resource_desc_t** resources, unsigned* count);

}  // extern "C"

// What differs from version to version, and names of ours for it.
#if UCT_VERNO_MAJOR == 1 && UCT_VERNO_MINOR == 13
#include "internals_1_13.hpp"
#elif UCT_VERNO_MAJOR == 1 && (UCT_VERNO_MINOR == 18 || UCT_VERNO_MINOR == 23)
#include "internals_since_1_18.hpp"
#else
#error "the layouts of this version of UCX are not known here"
#endif
