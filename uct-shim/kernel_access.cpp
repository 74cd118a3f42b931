#include "uct-shim/kernel_access.hpp"

#include <errno.h>
#include <uct/api/uct.h>

#include "device-attributor/device_attributor.hpp"
#include "event-log/format/device_definitions.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"

namespace uctrace::uct {

namespace {

using interpose::Original;

// As in UCX 1.20 to 1.23; no header of earlier ones declares them. uct_md_mem_elem_pack got its
// last argument in 1.23: a word in a register, which is always passed on.
using GetDeviceEndpoint = ucs_status_t (*)(uct_ep_h, void**);
using PackForInterface = ucs_status_t (*)(uct_iface_h, uct_mem_h, uct_rkey_t, void*);
using PackForDomain = ucs_status_t (*)(uct_md_h, uct_mem_h, uct_rkey_t, void*, void*);
using Release = void (*)(uct_md_h, void*);

constinit Original<GetDeviceEndpoint> original_get_endpoint{"uct_ep_get_device_ep"};
constinit Original<PackForInterface> original_pack{"uct_iface_mem_element_pack"};
constinit Original<PackForDomain> original_pack_of_domain{"uct_md_mem_elem_pack"};
constinit Original<Release> original_release{"uct_md_mem_elem_release"};

}  // namespace

void define_kernel_access(log::MemoryFunction function, const KernelAccess& access) {
  const int saved_errno = errno;
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::definition);
    errno = saved_errno;
    return;
  }
  const log::MemoryId memory = access.local != 0 && gpu::active()
                                   ? gpu::memory_of(*lane, access.local)
                                   : log::kMemoryNotAsked;
  if (auto* record = lane->define<log::KernelAccess>()) {
    record->tick = log::now();
    record->handle = access.handle;
    record->endpoint = access.endpoint;
    record->local = access.local;
    record->remote = access.remote;
    record->bytes = access.bytes;
    log::publish(record, log::RecordType::kernel_access, sizeof *record / 8,
                 static_cast<std::uint16_t>(function), memory);
  }
  errno = saved_errno;
}

}  // namespace uctrace::uct

using namespace uctrace;
using uct::MemoryCall;
using Function = log::MemoryFunction;

UCTRACE_EXPORT ucs_status_t uct_ep_get_device_ep(uct_ep_h endpoint, void** made) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::uct_ep_get_device_ep, caller);
  const ucs_status_t status =
      uct::call_if_there(uct::original_get_endpoint.get(caller), endpoint, made);
  const std::uint64_t handle = status == UCS_OK ? uct::number_of(*made) : 0;
  call.done(status, {.key = handle});
  if (status == UCS_OK && call.is_recorded()) {
    uct::define_kernel_access(Function::uct_ep_get_device_ep,
                              {.handle = handle, .endpoint = uct::number_of(endpoint)});
  }
  return status;
}

UCTRACE_EXPORT ucs_status_t uct_iface_mem_element_pack(uct_iface_h interface, uct_mem_h memory,
                                                       uct_rkey_t key, void* element) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::uct_iface_mem_element_pack, caller);
  return call.done(
      uct::call_if_there(uct::original_pack.get(caller), interface, memory, key, element),
      {.key = uct::number_of(memory)});
}

UCTRACE_EXPORT ucs_status_t uct_md_mem_elem_pack(uct_md_h domain, uct_mem_h memory, uct_rkey_t key,
                                                 void* element, void* release) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::uct_md_mem_elem_pack, caller);
  return call.done(uct::call_if_there(uct::original_pack_of_domain.get(caller), domain, memory, key,
                                      element, release),
                   {.domain = uct::number_of(domain), .key = uct::number_of(memory)});
}

UCTRACE_EXPORT void uct_md_mem_elem_release(uct_md_h domain, void* handle) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::uct_md_mem_elem_release, caller);
  if (auto* original = uct::original_release.get(caller)) original(domain, handle);
  call.done(UCS_OK, {.domain = uct::number_of(domain), .key = uct::number_of(handle)});
}
