// Endpoints: when each was made, connected and destroyed, and its peer's addresses. The merger
// joins these with the addresses of other processes' interfaces and endpoints.
#include <string.h>

#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/connections.hpp"
#include "uct-shim/interfaces.hpp"

namespace uctrace::uct {

namespace {

using interpose::Original;
using log::RecordType;

constinit Original<decltype(&uct_ep_create)> original_create{"uct_ep_create"};
constinit Original<decltype(&uct_ep_destroy)> original_destroy{"uct_ep_destroy"};
constinit Original<decltype(&uct_ep_get_address)> original_get_address{"uct_ep_get_address"};
constinit Original<decltype(&uct_ep_connect_to_ep)> original_connect{"uct_ep_connect_to_ep"};

// uct_ep_connect_to_ep_v2 (UCX 1.16); its last argument is opaque here.
using ConnectV2 = ucs_status_t (*)(uct_ep_h, const uct_device_addr_t*, const uct_ep_addr_t*,
                                   const void*);
constinit Original<ConnectV2> original_connect_v2{"uct_ep_connect_to_ep_v2"};

struct Bytes {
  const void* data;
  std::uint16_t length;
};

void define(RecordType type, const Interface& interface, uct_ep_h endpoint, Bytes device,
            Bytes address) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    return;
  }
  const std::size_t first = log::padded(device.length), second = log::padded(address.length);
  if (auto* record = lane->define<log::UctEndpoint>(first + second)) {
    record->tick = log::now();
    record->handle = reinterpret_cast<std::uint64_t>(endpoint);
    record->device_address_bytes = device.length;
    record->address_bytes = address.length;
    auto* bytes = reinterpret_cast<unsigned char*>(record + 1);
    if (device.length > 0) {
      memcpy(bytes, device.data, device.length);
    }
    if (address.length > 0) {
      memcpy(bytes + first, address.data, address.length);
    }
    log::publish(record, type, (sizeof *record + first + second) / 8, interface.id, 0);
  }
}

Bytes field(const uct_ep_params_t& params, std::uint64_t bit, const void* data,
            std::uint16_t length) {
  return (params.field_mask & bit) != 0 && data != nullptr ? Bytes{data, length}
                                                           : Bytes{nullptr, 0};
}

void connected(uct_ep_h endpoint, const uct_device_addr_t* device, const uct_ep_addr_t* address) {
  if (const Interface* interface = find_open_interface(endpoint->iface)) {
    define(RecordType::uct_endpoint_connect, *interface, endpoint,
           {device, device != nullptr ? interface->device_address_bytes : std::uint16_t{0}},
           {address, address != nullptr ? interface->endpoint_address_bytes : std::uint16_t{0}});
  }
}

}  // namespace

}  // namespace uctrace::uct

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t uct_ep_create(const uct_ep_params_t* params, uct_ep_h* endpoint) {
  const void* caller = __builtin_return_address(0);
  const uct::ConnectionParameters parameters(params, caller);
  const ucs_status_t status = uct::original_create.get(caller)(parameters.handed(), endpoint);
  if (status == UCS_OK && (params->field_mask & UCT_EP_PARAM_FIELD_IFACE) != 0) {
    if (const uct::Interface* interface = uct::find_open_interface(params->iface)) {
      uct::define(log::RecordType::uct_endpoint, *interface, *endpoint,
                  uct::field(*params, UCT_EP_PARAM_FIELD_DEV_ADDR, params->dev_addr,
                             interface->device_address_bytes),
                  uct::field(*params, UCT_EP_PARAM_FIELD_IFACE_ADDR, params->iface_addr,
                             interface->interface_address_bytes));
    }
  }
  return status;
}

UCTRACE_EXPORT void uct_ep_destroy(uct_ep_h endpoint) {
  if (const uct::Interface* interface = uct::find_open_interface(endpoint->iface)) {
    if (log::Lane* lane = log::lane()) {
      if (auto* record = lane->define<log::HandleEnd>()) {
        record->tick = log::now();
        record->handle = reinterpret_cast<std::uint64_t>(endpoint);
        log::publish(record, log::RecordType::uct_endpoint_destroy, sizeof *record / 8,
                     interface->id, 0);
      }
    }
  }
  uct::original_destroy.get(__builtin_return_address(0))(endpoint);
}

UCTRACE_EXPORT ucs_status_t uct_ep_get_address(uct_ep_h endpoint, uct_ep_addr_t* address) {
  const ucs_status_t status =
      uct::original_get_address.get(__builtin_return_address(0))(endpoint, address);
  if (const uct::Interface* interface = uct::find_open_interface(endpoint->iface);
      status == UCS_OK && interface != nullptr) {
    uct::define(log::RecordType::uct_endpoint_address, *interface, endpoint, {nullptr, 0},
                {address, interface->endpoint_address_bytes});
  }
  return status;
}

UCTRACE_EXPORT ucs_status_t uct_ep_connect_to_ep(uct_ep_h endpoint, const uct_device_addr_t* device,
                                                 const uct_ep_addr_t* address) {
  uct::connected(endpoint, device, address);
  return uct::original_connect.get(__builtin_return_address(0))(endpoint, device, address);
}

// The UCX that this is built with lacks the function, so its headers have no prototype.
UCTRACE_EXPORT ucs_status_t uct_ep_connect_to_ep_v2(uct_ep_h endpoint,
                                                    const uct_device_addr_t* device,
                                                    const uct_ep_addr_t* address,
                                                    const void* params) {
  auto* next = uct::original_connect_v2.get(__builtin_return_address(0));
  if (next == nullptr) {
    return UCS_ERR_UNSUPPORTED;
  }
  uct::connected(endpoint, device, address);
  return next(endpoint, device, address, params);
}
