#include "uct-shim/memory_calls.hpp"

#include <errno.h>
#include <uct/api/uct.h>

#include <atomic>

#include "device-attributor/device_attributor.hpp"
#include "event-log/format/ucp_names.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/left_layer.hpp"
#include "interpose/export.hpp"
#include "interpose/leave_out.hpp"
#include "interpose/original.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/domains.hpp"
#include "uct-shim/interfaces.hpp"
#include "uct-shim/version_check.hpp"

namespace uctrace::uct {

namespace {

using interpose::Original;
using log::MemoryFunction;

// Call sites whose UCX is recorded, with the number of the log in the upper bits: finding the UCX
// of a caller takes a microsecond if it uses only UCT. An evicted call site is looked up again.
constexpr std::size_t kCallers = 64;
constinit std::atomic<std::uint64_t> known_callers[kCallers]{};

// If this process records a UCX and there can be no other, no look-up is needed.
bool is_of_recorded_ucx(const void* caller) {
  if (log::layer_state(log::Layer::uct) == log::LayerState::on &&
      !interpose::callers_differ.load(std::memory_order_relaxed)) {
    return true;
  }
  std::atomic<std::uint64_t>& known = known_callers[number_of(caller) * 0x9E3779B97F4A7C15u >> 58];
  const std::uint64_t place = number_of(caller) | static_cast<std::uint64_t>(log::log_number())
                                                      << 48;
  if (known.load(std::memory_order_relaxed) == place) return true;
  const bool is_supported = ucx_supported(caller);
  if (is_supported) known.store(place, std::memory_order_relaxed);
  return is_supported;
}

// A fork child records nothing before it starts UCX itself. Releasing what the parent registered is
// not a start.
bool is_wanted(MemoryFunction function) {
  switch (log::action_of(function)) {
    case log::MemoryAction::deregistration:
    case log::MemoryAction::key_release:
    case log::MemoryAction::unmapping:
    case log::MemoryAction::kernel_release:
      if (log::log_number() == 0) return false;
      break;
    default:
      break;
  }
  return layer_wanted();
}

bool is_left_out(MemoryFunction function) {
  if (interpose::leave_out() == nullptr) return false;
  const std::string_view name = log::kMemoryFunctionNames[static_cast<std::size_t>(function)];
  return interpose::left_out(name.data(), name.size());
}

}  // namespace

MemoryCall::MemoryCall(MemoryFunction function, const void* caller)
    : function_(function),
      is_recorded_(is_wanted(function) && !log::counts_only() && is_of_recorded_ucx(caller) &&
                   !log::is_off_for_good(log::Layer::uct) && !is_left_out(function)),
      start_tick_(is_recorded_ ? log::now() : 0) {}

ucs_status_t MemoryCall::done(ucs_status_t status, const CalledMemory& memory) {
  if (!is_recorded_) return status;
  const int saved_errno = errno;
  const std::uint64_t end_tick = end_tick_ != 0 ? end_tick_ : log::now();
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::uct);
    errno = saved_errno;
    return status;
  }
  // Without an address the length does not count: UCX registers the whole address space as SIZE_MAX
  // bytes from 0.
  const std::uint64_t bytes = memory.address != 0 ? memory.bytes : 0;
  ++lane->counters().memory_calls;
  if (status == UCS_OK && log::action_of(function_) == log::MemoryAction::registration) {
    lane->counters().registered_bytes += bytes;
  }
  const bool asks = memory.memory == log::kMemoryNotAsked && memory.address != 0 && gpu::active();
  const log::MemoryId place = asks ? gpu::memory_of(*lane, memory.address) : memory.memory;
  if (auto* record = lane->reserve<log::MemoryCall>(log::DropKind::uct)) {
    const Context& context = thread_state.context;
    record->start_tick = start_tick_;
    record->duration_ticks = end_tick - start_tick_;
    record->domain = memory.domain;
    record->key = memory.key;
    record->address = memory.address;
    record->bytes = bytes;
    record->origin = context.origin;
    record->memory = place;
    const unsigned source = log::UctOperation::source_of(context.kind, context.route);
    log::publish(record, log::RecordType::memory_call, sizeof *record / 8,
                 static_cast<std::uint16_t>(static_cast<unsigned>(function_) | source << 8),
                 static_cast<std::uint32_t>(status));
  }
  errno = saved_errno;
  return status;
}

namespace {

// Functions that the headers of UCX 1.13 do not declare, as in 1.14 to 1.23. Their parameters are
// passed on unread.
using Register = ucs_status_t (*)(uct_md_h, void*, std::size_t, const void*, uct_mem_h*);
using Attach = ucs_status_t (*)(uct_md_h, const void*, void*, uct_mem_h*);
using UnpackKey = ucs_status_t (*)(uct_component_h, const void*, const void*, uct_rkey_bundle_t*);

// uct_md_mem_dereg_params_t, the same in 1.11 to 1.23.
struct DeregisterParameters {
  static constexpr std::uint64_t kMemory = 1;
  std::uint64_t field_mask;
  unsigned flags;
  uct_mem_h memory;
};
using Deregister = ucs_status_t (*)(uct_md_h, const DeregisterParameters*);

// uct_md_mkey_pack_v2 has four arguments in UCX 1.13, and six from 1.14 on: address and length were
// added before the last two. All are words in registers, so passing on six serves both.
using PackKey = ucs_status_t (*)(uct_md_h, uct_mem_h, const void*, const void*, const void*,
                                 const void*);

constinit Original<decltype(&::uct_md_mem_reg)> original_register{"uct_md_mem_reg"};
constinit Original<Register> original_register_v2{"uct_md_mem_reg_v2"};
constinit Original<Attach> original_attach{"uct_md_mem_attach"};
constinit Original<decltype(&::uct_md_mem_dereg)> original_deregister{"uct_md_mem_dereg"};
constinit Original<Deregister> original_deregister_v2{"uct_md_mem_dereg_v2"};
constinit Original<decltype(&::uct_md_mkey_pack)> original_pack{"uct_md_mkey_pack"};
constinit Original<PackKey> original_pack_v2{"uct_md_mkey_pack_v2"};
constinit Original<decltype(&::uct_rkey_unpack)> original_unpack{"uct_rkey_unpack"};
constinit Original<UnpackKey> original_unpack_v2{"uct_rkey_unpack_v2"};
constinit Original<decltype(&::uct_rkey_release)> original_release{"uct_rkey_release"};

// For calls about memory of a domain, or about a key of a component.
class DomainCall : public MemoryCall {
 public:
  DomainCall(MemoryFunction function, uct_md_h domain, const void* caller)
      : MemoryCall(function, caller), domain_(domain) {
    if (is_recorded() && tell_domain(domain)) begin_now();
  }

  ucs_status_t made(ucs_status_t status, const uct_mem_h* memory, const void* address,
                    std::size_t bytes) {
    return done(status, {number_of(domain_), status == UCS_OK ? number_of(*memory) : 0,
                         number_of(address), bytes});
  }
  ucs_status_t about(ucs_status_t status, uct_mem_h memory) {
    return done(status, {number_of(domain_), number_of(memory)});
  }

 private:
  uct_md_h domain_;
};

class KeyCall : public MemoryCall {
 public:
  KeyCall(MemoryFunction function, uct_component_h component, const void* caller)
      : MemoryCall(function, caller), component_(component) {
    if (is_recorded() && tell_component(component, caller)) begin_now();
  }

  ucs_status_t about(ucs_status_t status, uct_rkey_t key) {
    return done(status, {number_of(component_), key});
  }
  ucs_status_t made(ucs_status_t status, const uct_rkey_bundle_t* key) {
    return about(status, status == UCS_OK ? key->rkey : 0);
  }

 private:
  uct_component_h component_;
};

}  // namespace

}  // namespace uctrace::uct

using namespace uctrace;
using Function = log::MemoryFunction;

UCTRACE_EXPORT ucs_status_t uct_md_mem_reg(uct_md_h domain, void* address, size_t bytes,
                                           unsigned flags, uct_mem_h* memory) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mem_reg, domain, caller);
  return call.made(uct::original_register.get(caller)(domain, address, bytes, flags, memory),
                   memory, address, bytes);
}

UCTRACE_EXPORT ucs_status_t uct_md_mem_reg_v2(uct_md_h domain, void* address, size_t bytes,
                                              const void* parameters, uct_mem_h* memory) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mem_reg_v2, domain, caller);
  return call.made(uct::call_if_there(uct::original_register_v2.get(caller), domain, address, bytes,
                                      parameters, memory),
                   memory, address, bytes);
}

UCTRACE_EXPORT ucs_status_t uct_md_mem_attach(uct_md_h domain, const void* key, void* parameters,
                                              uct_mem_h* memory) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mem_attach, domain, caller);
  return call.made(
      uct::call_if_there(uct::original_attach.get(caller), domain, key, parameters, memory), memory,
      nullptr, 0);
}

UCTRACE_EXPORT ucs_status_t uct_md_mem_dereg(uct_md_h domain, uct_mem_h memory) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mem_dereg, domain, caller);
  return call.about(uct::original_deregister.get(caller)(domain, memory), memory);
}

UCTRACE_EXPORT ucs_status_t uct_md_mem_dereg_v2(uct_md_h domain,
                                                const uct::DeregisterParameters* parameters) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mem_dereg_v2, domain, caller);
  const bool has_memory = (parameters->field_mask & uct::DeregisterParameters::kMemory) != 0;
  const uct_mem_h memory = has_memory ? parameters->memory : nullptr;
  return call.about(uct::call_if_there(uct::original_deregister_v2.get(caller), domain, parameters),
                    memory);
}

UCTRACE_EXPORT ucs_status_t uct_md_mkey_pack(uct_md_h domain, uct_mem_h memory, void* buffer) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mkey_pack, domain, caller);
  return call.about(uct::original_pack.get(caller)(domain, memory, buffer), memory);
}

UCTRACE_EXPORT ucs_status_t uct_md_mkey_pack_v2(uct_md_h domain, uct_mem_h memory, const void* a,
                                                const void* b, const void* c, const void* d) {
  const void* caller = __builtin_return_address(0);
  uct::DomainCall call(Function::uct_md_mkey_pack_v2, domain, caller);
  return call.about(
      uct::call_if_there(uct::original_pack_v2.get(caller), domain, memory, a, b, c, d), memory);
}

UCTRACE_EXPORT ucs_status_t uct_rkey_unpack(uct_component_h component, const void* buffer,
                                            uct_rkey_bundle_t* key) {
  const void* caller = __builtin_return_address(0);
  uct::KeyCall call(Function::uct_rkey_unpack, component, caller);
  return call.made(uct::original_unpack.get(caller)(component, buffer, key), key);
}

UCTRACE_EXPORT ucs_status_t uct_rkey_unpack_v2(uct_component_h component, const void* buffer,
                                               const void* parameters, uct_rkey_bundle_t* key) {
  const void* caller = __builtin_return_address(0);
  uct::KeyCall call(Function::uct_rkey_unpack_v2, component, caller);
  return call.made(
      uct::call_if_there(uct::original_unpack_v2.get(caller), component, buffer, parameters, key),
      key);
}

UCTRACE_EXPORT ucs_status_t uct_rkey_release(uct_component_h component,
                                             const uct_rkey_bundle_t* key) {
  const void* caller = __builtin_return_address(0);
  uct::KeyCall call(Function::uct_rkey_release, component, caller);
  const uct_rkey_t released = key->rkey;
  return call.about(uct::original_release.get(caller)(component, key), released);
}
