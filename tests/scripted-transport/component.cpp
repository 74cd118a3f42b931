// The component and its transports, which are registered with the libuct of the process when this
// library is loaded.
#include <cstdio>
#include <cstring>

#include "memory.hpp"
#include "transport.hpp"

namespace scripted {

namespace {

constexpr const char* kDevices[] = {"mlx5_0:1", "mlx5_1:1"};

constexpr Flavour kFlavours[] = {
    {.name = "scripted", .to_endpoint = false, .tags = false},
    {.name = "script_ep", .to_endpoint = true, .tags = false},
    {.name = "script_tm", .to_endpoint = false, .tags = true},
};
constexpr std::size_t kFlavourCount = std::size(kFlavours);

ucs_config_field_t no_options[] = {{}};

ucs_config_global_list_entry_t options_of(const char* what) {
  return {.name = what, .prefix = "SCRIPTED_", .table = no_options, .size = 1, .list = {}};
}

ucs_status_t query_devices(uct_md_h, uct_tl_device_resource** devices, unsigned* count) {
  constexpr std::size_t kCount = std::size(kDevices);
  // UCX frees it with ucs_free, which is free() in every build without memory tracking.
  auto* made = static_cast<uct_tl_device_resource*>(std::calloc(kCount, sizeof **devices));
  if (made == nullptr) return UCS_ERR_NO_MEMORY;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::snprintf(made[i].name, sizeof made[i].name, "%s", kDevices[i]);
    made[i].type = UCT_DEVICE_TYPE_NET;
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

uct_component component{
    .name = "scripted",
    .query_md_resources = uct_md_query_single_md_resource,
    .md_open =
        [](uct_component* its, const char*, const uct_md_config_t*, uct_md_h* md) {
          *md = domain_of(its);
          return UCS_OK;
        },
    .cm_open = [](uct_component*, uct_worker_h, const void*,
                  uct_cm_h*) { return UCS_ERR_UNSUPPORTED; },
    .rkey_unpack = unpack_key,
    .rkey_ptr = [](uct_component*, uct_rkey_t, void*, std::uint64_t,
                   void**) { return UCS_ERR_UNSUPPORTED; },
    .rkey_release = release_key,
    .md_config = options_of("scripted memory domain"),
    .cm_config = options_of(""),
    .tl_list = {&component.tl_list, &component.tl_list},
    .list = {},
    .flags = 0,
    .md_vfs_init = [](uct_md_h) {},
};

uct_tl transports[kFlavourCount];

template <std::size_t kIndex>
void register_flavour() {
  uct_tl& transport = transports[kIndex];
  std::snprintf(transport.name, sizeof transport.name, "%s", kFlavours[kIndex].name);
  transport.query_devices = query_devices;
  transport.iface_open = open_flavour<kIndex>;
  transport.config = options_of("scripted transport");
  uct_tl_register(&component, &transport);
}

__attribute__((constructor)) void register_all() {
  uct_component_register(&component);
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) { (register_flavour<kIndex>(), ...); }
  (std::make_index_sequence<kFlavourCount>{});
}

}  // namespace

}  // namespace scripted
