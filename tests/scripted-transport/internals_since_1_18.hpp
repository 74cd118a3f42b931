// The differences of UCX 1.18 and 1.23 (internals.hpp includes it).
#pragma once

extern "C" {

// uct_v2.h, which is not installed
struct uct_md_attr_v2 {
  std::uint64_t field_mask;
  std::uint64_t max_alloc;
  std::size_t max_reg;
  std::uint64_t flags;
  std::uint64_t reg_mem_types;
  std::uint64_t reg_nonblock_mem_types;
  std::uint64_t cache_mem_types;
  std::uint64_t gva_mem_types;
  std::uint64_t detect_mem_types;
  std::uint64_t alloc_mem_types;
  std::uint64_t access_mem_types;
  std::uint64_t dmabuf_mem_types;
  ucs_linear_func_t reg_cost;
  char component_name[UCT_COMPONENT_NAME_MAX];
  std::size_t rkey_packed_size;
  ucs_cpu_set_t local_cpus;
  std::size_t exported_mkey_packed_size;
  char global_id[UCT_MD_GLOBAL_ID_MAX];
  std::size_t reg_alignment;
#if UCT_VERNO_MINOR >= 23
  std::uint8_t required_mem_flags;
#endif
};

struct uct_iface_is_reachable_params {
  std::uint64_t field_mask;  // 1: device_addr, 2: iface_addr
  const uct_device_addr_t* device_addr;
  const uct_iface_addr_t* iface_addr;
  // More follows: why not, and lengths.
};

struct uct_ep_is_connected_params {
  std::uint64_t field_mask;  // 1: device_addr, 2: iface_addr, 4: ep_addr
  const uct_device_addr_t* device_addr;
  const uct_iface_addr_t* iface_addr;
  const uct_ep_addr_t* ep_addr;
};

struct uct_md_ops {
  void (*close)(uct_md* md);
  ucs_status_t (*query)(uct_md* md, uct_md_attr_v2* attributes);
  void* mem_alloc;
  void* mem_free;
  void* mem_advise;
  ucs_status_t (*mem_reg)(uct_md* md, void* address, std::size_t length, const void* params,
                          uct_mem_h* memh);
  ucs_status_t (*mem_dereg)(uct_md* md, const uct_md_mem_dereg_params* params);
  // In 1.23 there is more behind these attributes.
  ucs_status_t (*mem_query)(uct_md* md, const void* address, std::size_t length,
                            uct_md_mem_attr_t* attributes);
  ucs_status_t (*mkey_pack)(uct_md* md, uct_mem_h memh, void* address, std::size_t length,
                            const void* params, void* buffer);
  void* mem_attach;
  ucs_status_t (*detect_memory_type)(uct_md* md, const void* address, std::size_t length,
                                     ucs_memory_type_t* type);
#if UCT_VERNO_MINOR >= 23
  void* mem_elem_pack;
  void* mem_elem_release;
#endif
};

struct uct_iface_internal_ops {
#if UCT_VERNO_MINOR >= 23
  ucs_status_t (*iface_query_v2)(uct_iface_h iface, void* attributes);
#endif
  ucs_status_t (*iface_estimate_perf)(uct_iface_h iface, void* attributes);
  void (*iface_vfs_refresh)(uct_iface_h iface);
  ucs_status_t (*ep_query)(uct_ep_h ep, void* attributes);
#if UCT_VERNO_MINOR >= 23
  ucs_status_t (*ep_invalidate)(uct_ep_h ep, const void* params);
#else
  ucs_status_t (*ep_invalidate)(uct_ep_h ep, unsigned flags);
#endif
  ucs_status_t (*ep_connect_to_ep_v2)(uct_ep_h ep, const uct_device_addr_t* device,
                                      const uct_ep_addr_t* address, const void* params);
  int (*iface_is_reachable_v2)(const uct_iface_h iface,
                               const uct_iface_is_reachable_params* params);
  int (*ep_is_connected)(uct_ep_h ep, const uct_ep_is_connected_params* params);
#if UCT_VERNO_MINOR >= 23
  ucs_status_t (*ep_get_device_ep)(uct_ep_h ep, void** device);
  void* ep_put_sgl_zcopy;  // these two are asked for where iface_query_v2 says so
  void* ep_get_sgl_zcopy;
  ucs_status_t (*ep_outstanding_purge)(uct_ep_h ep, const void* params);
#endif
};

// From iface_query.
#if UCT_VERNO_MINOR >= 23
ucs_status_t uct_iface_base_query_v2(uct_iface_h iface, void* attributes);
#endif
ucs_status_t uct_base_iface_estimate_perf(uct_iface_h iface, void* attributes);
ucs_status_t uct_base_rkey_compare(uct_component* component, uct_rkey_t one, uct_rkey_t other,
                                   const void* params, int* result);

}  // extern "C"

namespace scripted {

using DomainAttributes = uct_md_attr_v2;
inline auto& capabilities_of(DomainAttributes& attributes) { return attributes; }
// UCP insists that it may keep what it registers.
inline void complete(DomainAttributes& attributes) {
  attributes.cache_mem_types = attributes.reg_mem_types;
  attributes.reg_alignment = 1;
}
// As one flag for those who ask by uct_md_query, and as its halves: for RMA and for atomics.
constexpr std::uint64_t kInvalidates = UCT_MD_FLAG_INVALIDATE | UCS_BIT(11) | UCS_BIT(12);

// The memory types that a domain which copies between host and device reports as accessible: from
// 1.23 on UCP requires one domain for both ends of a copy.
constexpr std::uint64_t kCopiedFrom = UCS_BIT(UCS_MEMORY_TYPE_HOST);

using RegistrationParameters = const void*;

template <auto kPack>
ucs_status_t pack_memory_key(uct_md*, uct_mem_h memory, void*, std::size_t, const void*,
                             void* buffer) {
  return kPack(memory, buffer);
}

inline void compare_keys_by_default(uct_component& component) {
  component.rkey_compare = uct_base_rkey_compare;
}

constexpr std::uint64_t kBetweenHosts = UCT_IFACE_FLAG_INTER_NODE;

// The operations with a second version do what the first does. No table of defaults is exported.
template <auto kIsConnected>
uct_iface_internal_ops make_internal_operations() {
  uct_iface_internal_ops made{};
  made.iface_estimate_perf = uct_base_iface_estimate_perf;
  made.iface_vfs_refresh = [](uct_iface_h) {};
  made.ep_query = [](uct_ep_h, void*) { return UCS_ERR_UNSUPPORTED; };
  made.ep_invalidate = [](uct_ep_h, auto) { return UCS_ERR_UNSUPPORTED; };
  made.ep_connect_to_ep_v2 = [](uct_ep_h ep, const uct_device_addr_t* device,
                                const uct_ep_addr_t* address, const void*) {
    return ep->iface->ops.ep_connect_to_ep(ep, device, address);
  };
  made.iface_is_reachable_v2 = [](const uct_iface_h iface,
                                  const uct_iface_is_reachable_params* params) {
    return iface->ops.iface_is_reachable(iface, params->device_addr, params->iface_addr);
  };
  made.ep_is_connected = [](uct_ep_h ep, const uct_ep_is_connected_params* params) {
    constexpr std::uint64_t kHasInterface = 2, kHasEndpoint = 4;
    const auto given = [&](std::uint64_t field, auto* address) {
      return (params->field_mask & field) != 0 ? address : nullptr;
    };
    return static_cast<int>(kIsConnected(ep, given(kHasInterface, params->iface_addr),
                                         given(kHasEndpoint, params->ep_addr)));
  };
#if UCT_VERNO_MINOR >= 23
  made.iface_query_v2 = uct_iface_base_query_v2;
  made.ep_get_device_ep = [](uct_ep_h, void**) { return UCS_ERR_UNSUPPORTED; };
  made.ep_outstanding_purge = [](uct_ep_h, const void*) { return UCS_ERR_UNSUPPORTED; };
#endif
  return made;
}

template <auto kIsConnected>
const void* internal_operations() {
  static const uct_iface_internal_ops operations = make_internal_operations<kIsConnected>();
  return &operations;
}

}  // namespace scripted
