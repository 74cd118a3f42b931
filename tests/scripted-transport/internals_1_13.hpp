// The differences of UCX 1.13 (internals.hpp includes it).
#pragma once

extern "C" {

struct uct_md_ops {
  void (*close)(uct_md* md);
  ucs_status_t (*query)(uct_md* md, uct_md_attr_t* attributes);
  void* mem_alloc;
  void* mem_free;
  void* mem_advise;
  ucs_status_t (*mem_reg)(uct_md* md, void* address, std::size_t length, unsigned flags,
                          uct_mem_h* memh);
  ucs_status_t (*mem_dereg)(uct_md* md, const uct_md_mem_dereg_params* params);
  ucs_status_t (*mem_query)(uct_md* md, const void* address, std::size_t length,
                            uct_md_mem_attr_t* attributes);
  ucs_status_t (*mkey_pack)(uct_md* md, uct_mem_h memh, const void* params, void* buffer);
  void* is_sockaddr_accessible;
  ucs_status_t (*detect_memory_type)(uct_md* md, const void* address, std::size_t length,
                                     ucs_memory_type_t* type);
};

extern const char uct_base_iface_internal_ops[];  // the defaults, from iface_query and the ops

}  // extern "C"

namespace scripted {

using DomainAttributes = uct_md_attr_t;
inline auto& capabilities_of(DomainAttributes& attributes) { return attributes.cap; }
inline void complete(DomainAttributes&) {}
constexpr std::uint64_t kInvalidates = UCT_MD_FLAG_INVALIDATE;

// The memory types that a domain which copies between host and device reports as accessible.
constexpr std::uint64_t kCopiedFrom = 0;

using RegistrationParameters = unsigned;

template <auto kPack>
ucs_status_t pack_memory_key(uct_md*, uct_mem_h memory, const void*, void* buffer) {
  return kPack(memory, buffer);
}

inline void compare_keys_by_default(uct_component&) {}  // there are no comparisons

constexpr std::uint64_t kBetweenHosts = 0;  // nobody asks an interface for it

template <auto kIsConnected>
const void* internal_operations() {
  return uct_base_iface_internal_ops;
}

}  // namespace scripted
