// Keys by which other processes put to memory and get from it: the program packs them, sends them
// itself, and unpacks those of other processes.
#include <ucp/api/ucp.h>

#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "uct-shim/memory_calls.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

// ucp_memh_pack (UCX 1.14); its parameters are not looked at.
using PackMemory = ucs_status_t (*)(ucp_mem_h, const void*, void**, size_t*);

constinit Original<decltype(&::ucp_rkey_pack)> original_pack{"ucp_rkey_pack"};
constinit Original<PackMemory> original_pack_memory{"ucp_memh_pack"};
constinit Original<decltype(&::ucp_ep_rkey_unpack)> original_unpack{"ucp_ep_rkey_unpack"};
constinit Original<decltype(&::ucp_rkey_destroy)> original_destroy{"ucp_rkey_destroy"};

}  // namespace

}  // namespace uctrace::ucp

using namespace uctrace;
using uct::MemoryCall;
using Function = log::MemoryFunction;

UCTRACE_EXPORT ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memory, void** buffer,
                                          size_t* bytes) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::ucp_rkey_pack, caller);
  return call.done(ucp::original_pack.get(caller)(context, memory, buffer, bytes),
                   {.key = uct::number_of(memory)});
}

// Under a name of ours: headers of UCX 1.15 and later declare it with parameters that earlier ones
// do not know.
UCTRACE_EXPORT ucs_status_t pack_memory(ucp_mem_h memory, const void* parameters, void** buffer,
                                        size_t* bytes) __asm__("ucp_memh_pack");
ucs_status_t pack_memory(ucp_mem_h memory, const void* parameters, void** buffer, size_t* bytes) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::ucp_memh_pack, caller);
  return call.done(
      uct::call_if_there(ucp::original_pack_memory.get(caller), memory, parameters, buffer, bytes),
      {.key = uct::number_of(memory)});
}

UCTRACE_EXPORT ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h endpoint, const void* buffer,
                                               ucp_rkey_h* key) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::ucp_ep_rkey_unpack, caller);
  const ucs_status_t status = ucp::original_unpack.get(caller)(endpoint, buffer, key);
  return call.done(status, {.key = status == UCS_OK ? uct::number_of(*key) : 0});
}

UCTRACE_EXPORT void ucp_rkey_destroy(ucp_rkey_h key) {
  const void* caller = __builtin_return_address(0);
  MemoryCall call(Function::ucp_rkey_destroy, caller);
  ucp::original_destroy.get(caller)(key);
  call.done(UCS_OK, {.key = uct::number_of(key)});
}
