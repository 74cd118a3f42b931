// The memory domains: registration and keys, and copying to and from the peer's memory.
#include "memory.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "scripted.h"
#include "transport.hpp"

namespace scripted {

namespace {

constexpr std::uint64_t kMagic = 0x5343524950544544;

// What is registered; packed as it is, it is the key for it, and unpacked the remote key.
struct Registered {
  std::uint64_t magic, address, length, pid;
};
static_assert(sizeof(Registered) == kPackedKeyBytes);

template <ucs_memory_type_t kType>
ucs_status_t query(uct_md*, DomainAttributes* attributes) {
  auto& capabilities = capabilities_of(*attributes);
  capabilities.flags = UCT_MD_FLAG_REG | kInvalidates;
  if (kType == UCS_MEMORY_TYPE_HOST) {
    capabilities.flags |= UCT_MD_FLAG_NEED_MEMH | UCT_MD_FLAG_NEED_RKEY;
  }
  capabilities.reg_mem_types = UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(kType);
  capabilities.access_mem_types =
      UCS_BIT(kType) | (kType == UCS_MEMORY_TYPE_HOST ? 0 : kCopiedFrom);
  capabilities.detect_mem_types = kType == UCS_MEMORY_TYPE_HOST ? 0 : UCS_BIT(kType);
  capabilities.alloc_mem_types = 0;
  capabilities.max_alloc = 0;
  capabilities.max_reg = ULONG_MAX;
  attributes->rkey_packed_size = kPackedKeyBytes;
  attributes->reg_cost = {1e-7, 0};
  std::memset(&attributes->local_cpus, 0xff, sizeof attributes->local_cpus);
  complete(*attributes);
  return UCS_OK;
}

ucs_status_t register_memory(uct_md*, void* address, std::size_t length, RegistrationParameters,
                             uct_mem_h* memory) {
  *memory = new Registered{kMagic, reinterpret_cast<std::uint64_t>(address), length,
                           static_cast<std::uint64_t>(getpid())};
  oracle::note({.what = "registration",
                .bytes = length,
                .remote = reinterpret_cast<std::uint64_t>(address)});
  return UCS_OK;
}

ucs_status_t deregister(uct_md*, const uct_md_mem_dereg_params* params) {
  constexpr std::uint64_t kHasFlags = 2, kHasCompletion = 4;
  constexpr unsigned kInvalidate = 1;
  delete static_cast<Registered*>(params->memh);
  oracle::note({.what = "deregistration"});
  const std::uint64_t both = kHasFlags | kHasCompletion;
  if ((params->field_mask & both) == both && (params->flags & kInvalidate) != 0 &&
      --params->comp->count == 0) {
    params->comp->func(params->comp);
  }
  return UCS_OK;
}

ucs_status_t pack(uct_mem_h memory, void* buffer) {
  pack_key(memory, static_cast<unsigned char*>(buffer));
  oracle::note({.what = "key_packing"});
  return UCS_OK;
}

// --- memory of the device ------------------------------------------------------------------------

struct Range {
  std::uintptr_t address;
  std::size_t bytes;
};
constexpr std::size_t kMaxRanges = 64;
Range ranges[kMaxRanges];  // never given back
std::atomic<std::size_t> ranges_used{0};

const Range* range_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < ranges_used.load(); ++i) {
    if (at - ranges[i].address < ranges[i].bytes) return &ranges[i];
  }
  return nullptr;
}

ucs_status_t describe(uct_md*, const void* address, std::size_t, uct_md_mem_attr_t* attributes) {
  const Range* range = range_of(address);
  if (range == nullptr) return UCS_ERR_INVALID_ADDR;
  const auto wants = [&](std::uint64_t field) { return (attributes->field_mask & field) != 0; };
  if (wants(UCT_MD_MEM_ATTR_FIELD_MEM_TYPE)) attributes->mem_type = UCS_MEMORY_TYPE_CUDA;
  if (wants(UCT_MD_MEM_ATTR_FIELD_SYS_DEV)) attributes->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
  if (wants(UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS)) {
    attributes->base_address = reinterpret_cast<void*>(range->address);
  }
  if (wants(UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH)) attributes->alloc_length = range->bytes;
  return UCS_OK;
}

template <ucs_memory_type_t kType>
uct_md_ops operations_of() {
  uct_md_ops ops{};
  ops.close = [](uct_md*) {};
  ops.query = query<kType>;
  ops.mem_reg = register_memory;
  ops.mem_dereg = deregister;
  ops.mkey_pack = pack_memory_key<pack>;
  ops.mem_query = describe;
  ops.detect_memory_type = [](uct_md*, const void* address, std::size_t, ucs_memory_type_t* type) {
    *type = UCS_MEMORY_TYPE_CUDA;
    return range_of(address) != nullptr ? UCS_OK : UCS_ERR_INVALID_ADDR;
  };
  return ops;
}

ucs_status_t result_of(ssize_t copied, std::size_t bytes) {
  return copied == static_cast<ssize_t>(bytes) ? UCS_OK : UCS_ERR_ENDPOINT_TIMEOUT;
}

}  // namespace

uct_md_ops* host_domain_operations() {
  static uct_md_ops ops = operations_of<UCS_MEMORY_TYPE_HOST>();
  return &ops;
}

uct_md_ops* device_domain_operations() {
  static uct_md_ops ops = operations_of<UCS_MEMORY_TYPE_CUDA>();
  return &ops;
}

ucs_status_t unpack_key(uct_component*, const void* buffer, uct_rkey_t* key, void** handle) {
  auto* unpacked = new Registered;
  std::memcpy(unpacked, buffer, sizeof *unpacked);
  *key = reinterpret_cast<uct_rkey_t>(unpacked);
  *handle = unpacked;
  oracle::note({.what = "key_unpacking"});
  return UCS_OK;
}

ucs_status_t unpack_key(uct_component* component, const void* buffer, const void*, uct_rkey_t* key,
                        void** handle) {
  return unpack_key(component, buffer, key, handle);
}

ucs_status_t release_key(uct_component*, uct_rkey_t, void* handle) {
  delete static_cast<Registered*>(handle);
  oracle::note({.what = "key_release"});
  return UCS_OK;
}

void pack_key(uct_mem_h memory, unsigned char packed[kPackedKeyBytes]) {
  std::memcpy(packed, memory, kPackedKeyBytes);
}

bool key_allows(uct_rkey_t key, const InboxAddress& peer, std::uint64_t remote, std::size_t bytes) {
  const auto* registered = reinterpret_cast<const Registered*>(key);
  return registered->magic == kMagic && registered->pid == static_cast<std::uint64_t>(peer.pid) &&
         remote >= registered->address &&
         remote + bytes <= registered->address + registered->length;
}

ucs_status_t write_peer(const Endpoint& endpoint, const void* from, std::uint64_t remote,
                        std::size_t bytes) {
  auto* to = reinterpret_cast<void*>(remote);
  if (endpoint.peer.pid == getpid()) {
    std::memcpy(to, from, bytes);
    return UCS_OK;
  }
  const iovec here{const_cast<void*>(from), bytes}, there{to, bytes};
  return result_of(process_vm_writev(endpoint.peer.pid, &here, 1, &there, 1, 0), bytes);
}

ucs_status_t read_peer(const InboxAddress& peer, void* to, std::uint64_t remote,
                       std::size_t bytes) {
  auto* from = reinterpret_cast<void*>(remote);
  if (peer.pid == getpid()) {
    std::memcpy(to, from, bytes);
    return UCS_OK;
  }
  const iovec here{to, bytes}, there{from, bytes};
  return result_of(process_vm_readv(peer.pid, &here, 1, &there, 1, 0), bytes);
}

}  // namespace scripted

extern "C" __attribute__((visibility("default"))) void* scripted_transport_device_memory(
    unsigned long bytes) {
  using namespace scripted;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::size_t at = ranges_used.load();
  if (memory == MAP_FAILED || at == kMaxRanges) return nullptr;
  ranges[at] = {reinterpret_cast<std::uintptr_t>(memory), bytes};
  ranges_used.store(at + 1);
  return memory;
}
