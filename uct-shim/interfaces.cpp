#include "uct-shim/interfaces.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <atomic>

#include "device-attributor/device_attributor.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/left_layer.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/original.hpp"
#include "uct-shim/domains.hpp"
#include "uct-shim/offers.hpp"
#include "uct-shim/rebuilt.hpp"
#include "uct-shim/ucp_caller.hpp"
#include "uct-shim/unexpected_tags.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::uct {

thread_local constinit bool opening_for_ucp = false;

namespace {

using interpose::Original;
using log::FaultCode;
using log::Layer;

// The table's layout is the same in every tested version; this detects a build that differs: slots
// of management functions must point into the code of a loaded module, and the query must answer.
bool table_looks_right(uct_iface_h handle) {
  const uct_iface_ops_t& ops = handle->ops;
  const void* const functions[] = {reinterpret_cast<const void*>(ops.iface_close),
                                   reinterpret_cast<const void*>(ops.iface_query),
                                   reinterpret_cast<const void*>(ops.ep_destroy),
                                   reinterpret_cast<const void*>(ops.ep_pending_add),
                                   reinterpret_cast<const void*>(ops.iface_get_device_address)};
  for (const void* function : functions) {
    Dl_info info;
    if (function == nullptr || dladdr(function, &info) == 0) {
      return false;
    }
  }
  return true;
}

constinit Original<decltype(&uct_md_query_tl_resources)> original_resources{
    "uct_md_query_tl_resources"};
constinit Original<decltype(&uct_release_tl_resource_list)> original_release{
    "uct_release_tl_resource_list"};

// Only the list of a memory domain's devices tells their types.
log::DeviceType device_type_of(uct_md_h domain, const uct_iface_params_t& params,
                               const void* caller) {
  log::DeviceType type = log::DeviceType::unknown;
  auto* query = original_resources.get(caller);
  auto* release = original_release.get(caller);
  uct_tl_resource_desc_t* resources = nullptr;
  unsigned count = 0;
  if (domain == nullptr || query == nullptr || release == nullptr ||
      query(domain, &resources, &count) != UCS_OK) {
    return type;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (strcmp(resources[i].tl_name, params.mode.device.tl_name) == 0 &&
        strcmp(resources[i].dev_name, params.mode.device.dev_name) == 0) {
      type = static_cast<log::DeviceType>(resources[i].dev_type);
    }
  }
  release(resources);
  return type;
}

// What is told of an interface, and not kept.
struct ToldOnce {
  log::DeviceType device_type;
  log::InterfaceSpeed speed;
};

void define_interface(const Interface& entry, uct_md_h domain, const uct_iface_params_t& params,
                      const HookedSlots& slots, const ToldOnce& told, std::uint64_t opened_by) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    return;
  }
  const std::size_t device = log::padded(entry.device_address_bytes);
  const std::size_t address = log::padded(entry.interface_address_bytes);
  auto* record = lane->define<log::UctInterface>(device + address);
  if (record == nullptr) {
    return;
  }
  record->tick = log::now();
  record->handle = reinterpret_cast<std::uint64_t>(entry.handle);
  record->of_ucp = opened_by;
  record->device_type = told.device_type;
  record->speed = told.speed;
  record->offered = slots.offered;
  record->hooked = slots.hooked;
  snprintf(record->transport, sizeof record->transport, "%s", params.mode.device.tl_name);
  snprintf(record->device, sizeof record->device, "%s", params.mode.device.dev_name);
  name_domain(domain, record->memory_domain);
  record->device_address_bytes = entry.device_address_bytes;
  record->interface_address_bytes = entry.interface_address_bytes;
  auto* bytes = reinterpret_cast<unsigned char*>(record + 1);
  const uct_iface_ops_t& ops = entry.original;
  if (entry.device_address_bytes > 0 && ops.iface_get_device_address != nullptr) {
    ops.iface_get_device_address(entry.handle, reinterpret_cast<uct_device_addr_t*>(bytes));
  }
  if (entry.interface_address_bytes > 0 && ops.iface_get_address != nullptr) {
    ops.iface_get_address(entry.handle, reinterpret_cast<uct_iface_addr_t*>(bytes + device));
  }
  log::publish(record, log::RecordType::uct_interface, (sizeof *record + device + address) / 8,
               entry.id, entry.endpoint_address_bytes);
}

// Transports and devices that were counted: interfaces of the same name are counted together, also
// after they are closed and opened again. A fork child's file needs the names again.
struct CountedDevice {
  char name[64];
  log::OncePerLog named;
};
constexpr std::uint32_t kMostCountedDevices = 1024;  // all others are the last one
constinit interpose::ForkLock counted_lock{};
constinit CountedDevice counted_devices[kMostCountedDevices]{};
constinit std::uint32_t counted_device_count = 0;

std::uint32_t counter_number(const uct_iface_params_t& params) {
  if (!log::counts()) return 0;
  char name[sizeof CountedDevice::name];
  snprintf(name, sizeof name, "%s/%s", params.mode.device.tl_name, params.mode.device.dev_name);
  const interpose::Held held(counted_lock);
  std::uint32_t number = 0;
  while (number < counted_device_count && strcmp(counted_devices[number].name, name) != 0) ++number;
  if (number == counted_device_count) {
    if (number + 1 == kMostCountedDevices) snprintf(name, sizeof name, "other/other");
    if (number == kMostCountedDevices) return number - 1;
    ++counted_device_count;
    memcpy(counted_devices[number].name, name, sizeof name);
  }
  if (counted_devices[number].named.take()) {
    log::name_counter(log::CounterNameKind::interface, number, name);
  }
  return number;
}

// Room behind the attributes: a later UCX may have more of them.
struct Attributes : uct_iface_attr_t {
  unsigned char of_later_releases[512];
};

// Keeps the sizes of its addresses in the entry. Nothing is known of an interface that does not
// answer.
log::InterfaceSpeed read_attributes(Interface& entry) {
  Attributes attributes;
  memset(static_cast<void*>(&attributes), 0, sizeof attributes);
  if (entry.original.iface_query(entry.handle, &attributes) != UCS_OK) return {};
  const auto kept = [](std::size_t bytes) {
    constexpr std::size_t kLongest = 512;  // both fit one record
    return bytes <= kLongest ? static_cast<std::uint16_t>(bytes) : std::uint16_t{0};
  };
  entry.device_address_bytes = kept(attributes.device_addr_len);
  entry.interface_address_bytes = kept(attributes.iface_addr_len);
  entry.endpoint_address_bytes = kept(attributes.ep_addr_len);
  return {.latency_s = attributes.latency.c,
          .latency_per_endpoint_s = attributes.latency.m,
          .own_bandwidth = attributes.bandwidth.dedicated,
          .shared_bandwidth = attributes.bandwidth.shared};
}

// The caller that opens an interface, and its UCX.
struct Opener {
  const void* caller;
  std::uint64_t is_ucp;  // as in log::UctInterface
  bool is_rebuilt;
};

// UCP opens interfaces only while it makes a worker. If we did not see that call, it bypassed us;
// UCP's layer says so, even if UCT's is not wanted.
std::uint64_t opened_by_ucp(const void* caller) {
  if (opening_for_ucp) {
    return log::UctInterface::kByUcp;
  }
  if (!is_libucp(caller)) {
    return 0;
  }
  report_bypassed(log::Layer::ucp, FaultCode::ucp_bypassed, Bypass::certain,
                  interpose::module_path(caller));
  return log::UctInterface::kByBypassedUcp;
}

// Only real interfaces: since 1.22 UCP opens stubs and writes their tables itself.
bool is_of_device(const uct_iface_params_t& params) {
  return (params.field_mask & UCT_IFACE_PARAM_FIELD_OPEN_MODE) != 0 &&
         (params.open_mode & UCT_IFACE_OPEN_MODE_DEVICE) != 0;
}

void report_no_room(const uct_iface_params_t& params) {
  log::fault(Layer::uct, FaultCode::out_of_interfaces, kMaxInterfaces, params.mode.device.tl_name);
}

// The interface's entry; nullptr if it was left alone.
Interface* hook_interface(uct_iface_h handle, uct_md_h domain, const uct_iface_params_t& params,
                          const Opener& opener) {
  if (!table_looks_right(handle)) {
    log::fault(Layer::uct, FaultCode::self_check_failed, 0, params.mode.device.tl_name);
    log::set_layer(Layer::uct, log::LayerState::off);
    return nullptr;
  }
  Interface* entry = take_entry();
  if (entry == nullptr) {
    report_no_room(params);
    return nullptr;
  }
  __atomic_store_n(&entry->handle, handle, __ATOMIC_RELEASE);
  entry->original = handle->ops;
  entry->of_ucp = opener.is_ucp != 0;
  entry->counted_as = counter_number(params);
  // A rebuilt UCX calls our hooks itself. But a program that opens interfaces itself may have been
  // compiled against a stock UCX, whose inline functions use the interface's table.
  entry->swapped = !opener.is_rebuilt || !entry->of_ucp;
  memset(static_cast<void*>(entry->handlers), 0, sizeof entry->handlers);
  const log::DeviceType device_type = device_type_of(domain, params, opener.caller);
  entry->in_memory =
      device_type == log::DeviceType::shared_memory || device_type == log::DeviceType::self;
  entry->by_system = strcmp(params.mode.device.tl_name, "tcp") == 0;
  entry->copies = device_type == log::DeviceType::accelerator;
  const ToldOnce told{device_type, read_attributes(*entry)};
  // Before the first hook is in the table: a thread of the transport may call it at once.
  if (!show(*entry)) {
    give_back(*entry);
    report_no_room(params);
    return nullptr;
  }
  if (entry->swapped) {
    swap_operations(handle->ops);
  }
  define_interface(
      *entry, domain, params,
      entry->swapped ? hooked_slots(entry->original, handle->ops) : slots_of_tool(entry->original),
      told, opener.is_ucp);
  log::set_layer(Layer::uct, log::LayerState::on);
  return entry;
}

constinit Original<decltype(&uct_iface_open)> original_open{"uct_iface_open"};
constinit Original<decltype(&uct_iface_close)> original_close{"uct_iface_close"};

}  // namespace

bool layer_wanted() {
  return log::start() && log::layer_state(log::Layer::uct) != log::LayerState::unwanted;
}

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_iface_open(uct_md_h domain, uct_worker_h worker,
                                           const uct_iface_params_t* params,
                                           const uct_iface_config_t* config, uct_iface_h* handle) {
  const void* caller = __builtin_return_address(0);
  interpose::look_for_patched_ucx();
  auto* const original = uct::original_open.get(caller);
  uct_iface_params_t own;
  uct::UnexpectedTags* tags = uct::stand_in(*params, own);
  const ucs_status_t status =
      original(domain, worker, tags != nullptr ? &own : params, config, handle);
  const bool is_opened = status == UCS_OK && uct::is_of_device(*params) && log::start();
  const std::uint64_t by_ucp = is_opened ? uct::opened_by_ucp(caller) : 0;
  if (is_opened && uct::layer_wanted() && uct::ucx_supported(caller) &&
      !log::is_off_for_good(log::Layer::uct)) {
    uct::report_left_out();
    uct::tell_offers();
    gpu::look_for_drivers(caller);
    const uct::Opener opener{caller, by_ucp, uct::attach(reinterpret_cast<const void*>(original))};
    if (uct::Interface* entry = uct::hook_interface(*handle, domain, *params, opener)) {
      entry->tags = tags;
      if (tags != nullptr) {
        tags->interface = entry;
      }
    }
  } else if (status != UCS_OK) {
    uct::release(tags);
  }
  return status;
}

UCTRACE_EXPORT void uct_iface_close(uct_iface_h handle) {
  uct::Interface* const entry = uct::find_open_interface(handle);
  if (entry != nullptr) {
    if (log::Lane* lane = log::lane()) {
      if (auto* record = lane->define<log::HandleEnd>()) {
        record->tick = log::now();
        record->handle = reinterpret_cast<std::uint64_t>(handle);
        log::publish(record, log::RecordType::uct_interface_close, sizeof *record / 8, entry->id,
                     0);
      }
    }
    if (entry->swapped) {
      handle->ops = entry->original;
    }
    uct::hide(*entry);
  }
  uct::original_close.get(__builtin_return_address(0))(handle);
  if (entry != nullptr) {
    uct::release(entry->tags);
    uct::give_back(*entry);
  }
}
