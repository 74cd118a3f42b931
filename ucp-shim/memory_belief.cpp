#include "ucp-shim/memory_belief.hpp"

#include <stdio.h>
#include <string.h>
#include <ucs/type/status.h>

#include <atomic>
#include <iterator>

#include "device-attributor/device_attributor.hpp"
#include "device-attributor/vendor-facts/beliefs.hpp"
#include "event-log/format/device_definitions.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/context.hpp"
#include "uct-shim/version_check.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;
using interpose::Scope;
using log::Belief;
using log::BeliefFrom;

// The beginning of ucs_memory_info_t, for releases that describe memory by it. No package installs
// its header.
struct MemoryInfo {
  int type;
  std::uint8_t device;
};

constinit std::atomic<const ucx::Release*> release{nullptr};

// From a ucs_memory_type_t; the number after the last type of a release means unknown memory.
Belief belief_in(unsigned type) {
  const ucx::Release* const known = release.load(std::memory_order_relaxed);
  return known != nullptr && type < known->memory_types && type < std::size(gpu::kUcxMemoryTypes)
             ? gpu::kUcxMemoryTypes[type]
             : Belief::not_asked;
}

// The last answers that this thread overheard. An operation asks about one buffer; lists, and calls
// inside calls, ask about some more.
struct Overheard {
  log::Id operation;
  const void* address;
  MemoryBelief belief;
};
constexpr std::size_t kKept = 4;
struct Answers {
  Overheard kept[kKept];
  std::size_t next;
};
thread_local constinit Answers answers __attribute__((tls_model("initial-exec"))) = {};

// Asks once for each buffer.
log::MemoryId memory_in_call(log::Id operation, const void* address) {
  const log::MemoryId known = belief_of(operation, address).memory;
  log::Lane* lane = log::lane();
  if (known != log::kMemoryNotAsked || lane == nullptr || lane->leaves_out()) {
    return known;
  }
  return gpu::memory_of(*lane, address);
}

// Only what UCP asks inside a call: transports also ask, about what they copy.
void overhear(const void* address, Belief believed, std::uint8_t device, BeliefFrom from) {
  const uct::ThreadState& state = uct::thread_state;
  if (state.context.kind != log::Origin::ucp || state.posting.busy != nullptr ||
      believed == Belief::not_asked) {
    return;
  }
  const log::Id operation = state.context.origin;
  MemoryBelief belief{believed, device, from};
  if (believed != Belief::host) belief.memory = memory_in_call(operation, address);
  answers.kept[answers.next++ % kKept] = {operation, address, belief};
}

// --- UCX's devices -------------------------------------------------------------------------------

// ucs_sys_bus_id_t.
struct BusId {
  std::uint16_t domain;
  std::uint8_t bus, slot, function;
};
using CountDevices = unsigned (*)();
using GetBusId = ucs_status_t (*)(std::uint8_t, BusId*);
using GetName = const char* (*)(std::uint8_t);

void define_device(log::Lane& lane, std::uint8_t number, const BusId& bus, const char* name) {
  if (auto* record = lane.define<log::UcxDevice>()) {
    record->tick = log::now();
    record->pci = {bus.domain, bus.bus, bus.slot, bus.function};
    memcpy(record->name, name, strnlen(name, sizeof record->name - 1));
    log::publish(record, log::RecordType::ucx_device, sizeof *record / 8, number, 0);
  }
}

// Defines the devices that this log does not have yet. If the process has several UCX, only those
// of the first one.
void define_devices(log::Lane& lane, const void* caller) {
  static constinit std::atomic<std::uint64_t> defined{0};  // number of the log << 32 | devices
  Scope scope(caller);
  const auto count = reinterpret_cast<CountDevices>(scope.find_function("ucs_topo_num_devices"));
  const auto get_bus_id =
      reinterpret_cast<GetBusId>(scope.find_function("ucs_topo_get_device_bus_id"));
  const auto get_name =
      reinterpret_cast<GetName>(scope.find_function("ucs_topo_sys_device_get_name"));
  if (count == nullptr || get_bus_id == nullptr) {
    return;
  }
  constexpr unsigned kMost = 254;
  const std::uint64_t there = count() < kMost ? count() : kMost;
  const std::uint64_t log = static_cast<std::uint64_t>(log::log_number()) << 32;
  const std::uint64_t before = defined.exchange(log | there, std::memory_order_relaxed);
  for (std::uint64_t i = (before & ~UINT64_C(0xffffffff)) == log ? before & 0xffffffff : 0;
       i < there; ++i) {
    const auto number = static_cast<std::uint8_t>(i);
    BusId bus{};
    if (get_bus_id(number, &bus) == UCS_OK) {
      const char* name = get_name != nullptr ? get_name(number) : nullptr;
      define_device(lane, number, bus, name != nullptr ? name : "");
    }
  }
}

}  // namespace

MemoryBelief belief_of(log::Id operation, const void* buffer) {
  for (std::size_t i = 1; i <= kKept; ++i) {
    const Overheard& one = answers.kept[(answers.next - i) % kKept];
    if (one.operation == operation && one.address == buffer) {
      return one.belief;
    }
  }
  return {};
}

MemoryBelief belief_of_type(unsigned type) {
  const Belief believed = belief_in(type);
  return believed == Belief::not_asked
             ? MemoryBelief{}
             : MemoryBelief{believed, log::OperationMemory::kNoDevice, BeliefFrom::caller};
}

void learn_devices(const void* caller) {
  release.store(uct::ucx_release(caller), std::memory_order_relaxed);
  if (log::Lane* lane = log::lane(); lane != nullptr && gpu::active()) {
    define_devices(*lane, caller);
  }
}

}  // namespace uctrace::ucp

using namespace uctrace;

// No installed header declares either. UCX 1.11 also hands the cache to the first one. We pass it
// on, and do not overhear its answers.
using Word = std::uintptr_t;
using LookUp = ucs_status_t (*)(Word, Word, Word, Word);
using Detect = void (*)(Word, Word, Word, Word);
static constinit interpose::Original<LookUp> original_look_up{"ucs_memtype_cache_lookup"};
static constinit interpose::Original<Detect> original_detect{"ucp_memory_detect_slowpath"};
static bool overhears() {
  const ucx::Release* const release = ucp::release.load(std::memory_order_relaxed);
  return gpu::active() && release != nullptr && release->tells_memory;
}

UCTRACE_EXPORT ucs_status_t ucs_memtype_cache_lookup(Word address, Word bytes, Word info,
                                                     Word more) {
  auto* original = original_look_up.get(__builtin_return_address(0));
  if (original == nullptr) {
    return UCS_ERR_UNSUPPORTED;
  }
  const ucs_status_t status = original(address, bytes, info, more);
  if (overhears()) {
    const auto* at = reinterpret_cast<const void*>(address);
    if (status == UCS_ERR_NO_ELEM) {
      ucp::overhear(at, log::Belief::host, log::OperationMemory::kNoDevice, log::BeliefFrom::cache);
    } else if (status == UCS_OK) {
      const auto& told = *reinterpret_cast<const ucp::MemoryInfo*>(info);
      ucp::overhear(at, ucp::belief_in(static_cast<unsigned>(told.type)), told.device,
                    log::BeliefFrom::cache);
    }
  }
  return status;
}

UCTRACE_EXPORT void ucp_memory_detect_slowpath(Word context, Word address, Word bytes, Word info) {
  auto* original = original_detect.get(__builtin_return_address(0));
  if (original == nullptr) {
    return;
  }
  original(context, address, bytes, info);
  if (overhears()) {
    const auto& told = *reinterpret_cast<const ucp::MemoryInfo*>(info);
    ucp::overhear(reinterpret_cast<const void*>(address),
                  ucp::belief_in(static_cast<unsigned>(told.type)), told.device,
                  log::BeliefFrom::detection);
  }
}
