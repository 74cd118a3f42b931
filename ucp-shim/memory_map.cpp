// Memory that the program maps for other processes to put to and get from. They only know its
// address, so the log must say what it is before they use it. It is there until it is unmapped.
#include <string.h>
#include <ucp/api/ucp.h>

#include "device-attributor/device_attributor.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/interfaces.hpp"
#include "uct-shim/memory_calls.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_mem_map)> original_map{"ucp_mem_map"};
constinit Original<decltype(&::ucp_mem_unmap)> original_unmap{"ucp_mem_unmap"};
constinit Original<decltype(&::ucp_mem_query)> memory_query{"ucp_mem_query"};

// UCX may have allocated the memory. Its length is 0 if UCX does not report it.
ucp_mem_attr_t attributes_of(ucp_mem_h memory, const void* caller) {
  auto* query = memory_query.get(caller);
  ucp_mem_attr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
  if (query == nullptr || query(memory, &attributes) != UCS_OK) attributes.length = 0;
  return attributes;
}

uct::CalledMemory called_memory(ucp_mem_h memory, const void* caller) {
  const ucp_mem_attr_t attributes = attributes_of(memory, caller);
  const bool is_known = attributes.length != 0;
  return {.key = uct::number_of(memory),
          .address = is_known ? uct::number_of(attributes.address) : 0,
          .bytes = attributes.length};
}

// Asks now on which GPU it is: after UCX has freed it, nothing can say.
uct::CalledMemory memory_to_unmap(ucp_mem_h memory, const void* caller) {
  uct::CalledMemory called = called_memory(memory, caller);
  log::Lane* lane = gpu::active() && called.address != 0 ? log::lane() : nullptr;
  if (lane != nullptr) called.memory = gpu::memory_of(*lane, called.address);
  return called;
}

// Defines it, or notes that it is still there.
void find_memory(ucp_mem_h memory, const void* caller) {
  if (!gpu::active()) gpu::look_for_drivers(caller);
  log::Lane* lane = log::lane();
  if (lane == nullptr || !gpu::active()) {
    return;
  }
  const ucp_mem_attr_t attributes = attributes_of(memory, caller);
  gpu::find_memory(*lane, attributes.address, attributes.length);
}

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* params,
                                        ucp_mem_h* memory) {
  const void* caller = __builtin_return_address(0);
  uct::MemoryCall call(log::MemoryFunction::ucp_mem_map, caller);
  const ucs_status_t status = ucp::original_map.get(caller)(context, params, memory);
  call.end_now();
  const bool is_mapped = status == UCS_OK;
  call.done(status, is_mapped && call.is_recorded() ? ucp::called_memory(*memory, caller)
                                                    : uct::CalledMemory{});
  if (is_mapped && log::start() && log::layer_state(log::Layer::ucp) != log::LayerState::unwanted &&
      uct::ucx_supported(caller)) {
    ucp::find_memory(*memory, caller);
  }
  return status;
}

UCTRACE_EXPORT ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory) {
  const void* caller = __builtin_return_address(0);
  if (gpu::active() && log::layer_state(log::Layer::ucp) != log::LayerState::unwanted &&
      uct::ucx_supported(caller)) {
    ucp::find_memory(memory, caller);
  }
  uct::MemoryCall call(log::MemoryFunction::ucp_mem_unmap, caller);
  const uct::CalledMemory unmapped =
      call.is_recorded() ? ucp::memory_to_unmap(memory, caller) : uct::CalledMemory{};
  call.begin_now();
  return call.done(ucp::original_unmap.get(caller)(context, memory), unmapped);
}
