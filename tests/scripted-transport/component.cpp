// The components and their transports, which are registered with the libuct of the process when
// this library is loaded.
#include <cstdio>
#include <cstring>

#include "memory.hpp"
#include "transport.hpp"

namespace scripted {

namespace {

struct Device {
  const char* name;
  uct_device_type_t type;
};
constexpr Device kNics[] = {{"mlx5_0:1", UCT_DEVICE_TYPE_NET}, {"mlx5_1:1", UCT_DEVICE_TYPE_NET}};
constexpr Device kGpus[] = {{"gpu0", UCT_DEVICE_TYPE_ACC}};

constexpr Flavour kFlavours[] = {
    {.name = "scripted"},
    {.name = "script_ep", .to_endpoint = true},
    {.name = "script_tm", .tags = true},
    {.name = "script_cp", .copies = true},
};
constexpr std::size_t kFlavourCount = std::size(kFlavours);

ucs_config_field_t no_options[] = {{}};

ucs_config_global_list_entry_t options_of(const char* what) {
  ucs_config_global_list_entry_t made{};
  made.name = what;
  made.prefix = "SCRIPTED_";
  made.table = no_options;
  made.size = 1;
  return made;
}

template <const auto& kDevices>
ucs_status_t query_devices(uct_md_h, uct_tl_device_resource** devices, unsigned* count) {
  constexpr std::size_t kCount = std::size(kDevices);
  // UCX frees it with ucs_free, which is free() in every build without memory tracking.
  auto* made = static_cast<uct_tl_device_resource*>(std::calloc(kCount, sizeof **devices));
  if (made == nullptr) return UCS_ERR_NO_MEMORY;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::snprintf(made[i].name, sizeof made[i].name, "%s", kDevices[i].name);
    made[i].type = kDevices[i].type;
    made[i].sys_device = UCS_SYS_DEVICE_ID_UNKNOWN;
  }
  *devices = made;
  *count = kCount;
  return UCS_OK;
}

template <std::size_t kIndex>
ucs_status_t open_flavour(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                          const uct_iface_config_t*, uct_iface_h* iface) {
  return open_interface(md, worker, params, kFlavours[kIndex], iface);
}

ucs_status_t open_host_domain(uct_component* its, const char*, const uct_md_config_t*,
                              uct_md_h* md) {
  static uct_md domain{host_domain_operations(), its};
  *md = &domain;
  return UCS_OK;
}

ucs_status_t open_device_domain(uct_component* its, const char*, const uct_md_config_t*,
                                uct_md_h* md) {
  static uct_md domain{device_domain_operations(), its};
  *md = &domain;
  return UCS_OK;
}

// The list of transports is empty when it points to itself.
uct_component component_of(const char* name, decltype(uct_component::md_open) open) {
  uct_component made{};
  std::snprintf(made.name, sizeof made.name, "%s", name);
  made.query_md_resources = uct_md_query_single_md_resource;
  made.md_open = open;
  made.cm_open = [](uct_component*, uct_worker_h, const void*, uct_cm_h*) {
    return UCS_ERR_UNSUPPORTED;
  };
  made.rkey_unpack = unpack_key;
  made.rkey_ptr = [](uct_component*, uct_rkey_t, void*, std::uint64_t, void**) {
    return UCS_ERR_UNSUPPORTED;
  };
  made.rkey_release = release_key;
  compare_keys_by_default(made);
  made.md_config = options_of("memory domain");
  made.cm_config = options_of("");
  made.md_vfs_init = [](uct_md_h) {};
  return made;
}

uct_component nic, gpu;
uct_tl transports[kFlavourCount];

template <std::size_t kIndex>
void register_flavour() {
  constexpr const Flavour& kFlavour = kFlavours[kIndex];
  uct_tl& transport = transports[kIndex];
  std::snprintf(transport.name, sizeof transport.name, "%s", kFlavour.name);
  transport.query_devices = kFlavour.copies ? query_devices<kGpus> : query_devices<kNics>;
  transport.iface_open = open_flavour<kIndex>;
  transport.config = options_of("scripted transport");
  uct_tl_register(kFlavour.copies ? &gpu : &nic, &transport);
}

__attribute__((constructor)) void register_all() {
  nic = component_of("scripted", open_host_domain);
  gpu = component_of("script_gpu", open_device_domain);
  for (uct_component* component : {&nic, &gpu}) {
    component->tl_list = {&component->tl_list, &component->tl_list};
    uct_component_register(component);
  }
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) { (register_flavour<kIndex>(), ...); }
  (std::make_index_sequence<kFlavourCount>{});
}

}  // namespace

}  // namespace scripted
