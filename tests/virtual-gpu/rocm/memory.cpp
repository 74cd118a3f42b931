// Memory as ROCm's HSA runtime has it: from the pools of agents, locked, of another process, and
// physical memory that is mapped.
#include "../driver/memory.hpp"

#include <unistd.h>

#include <cstring>
#include <map>

#include "../driver/shared_memory.hpp"
#include "hsa.hpp"

using namespace virtual_gpu;

namespace {

// The pool of an agent has its handle.
hsa_agent_t agent_of(hsa_amd_memory_pool_t pool) { return {pool.handle}; }

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }
void* pointer_to(Address address) { return reinterpret_cast<void*>(address); }

hsa_status_t told(const Allocation* allocation, void** pointer) {
  if (allocation == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *pointer = pointer_to(allocation->begin);
  return HSA_STATUS_SUCCESS;
}

// Frees what begins there, if it is of one of the kinds.
hsa_status_t release(const void* pointer, bool (*fits)(const Allocation&)) {
  const Allocation* one = memory().find_beginning(address_of(pointer));
  if (one == nullptr || !fits(*one)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  memory().release(*one);
  return HSA_STATUS_SUCCESS;
}

// Where GPUs have memory of the program that is locked: at another address than the program.
std::map<Address, Address>& agent_addresses() {
  static auto& all = *new std::map<Address, Address>();
  return all;
}

// Of locked memory, where the program has it.
Address program_address(const void* pointer) {
  const Address address = address_of(pointer);
  for (const auto& [begin, of_agents] : agent_addresses()) {
    const Allocation* one = memory().find_beginning(begin);
    if (one != nullptr && address - of_agents < one->bytes) return begin + (address - of_agents);
  }
  return address;
}

std::map<std::uint64_t, std::shared_ptr<Physical>>& handles() {
  static auto& all = *new std::map<std::uint64_t, std::shared_ptr<Physical>>();
  return all;
}

template <typename Value>
hsa_status_t put(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return HSA_STATUS_SUCCESS;
}

bool is_on_host(const Allocation& one) {
  return one.kind == Kind::host ||
         (one.physical != nullptr &&
          one.physical->properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE);
}

hsa_amd_pointer_type_t type_of(const Allocation& one) {
  switch (one.kind) {
    case Kind::registered:
      return HSA_EXT_POINTER_TYPE_LOCKED;
    case Kind::imported:
      return HSA_EXT_POINTER_TYPE_IPC;
    case Kind::mapped:
      // Older runtimes do not know of it.
      return settings().tells_less ? HSA_EXT_POINTER_TYPE_UNKNOWN : HSA_EXT_POINTER_TYPE_HSA_VMEM;
    default:
      return HSA_EXT_POINTER_TYPE_HSA;
  }
}

// Of mapped memory the runtime tells the address that it is asked for, as if the mapping began
// there.
void describe(const Allocation& one, const void* asked, hsa_amd_pointer_info_t& info) {
  const bool mapped = one.kind == Kind::mapped;
  void* const begin = mapped ? const_cast<void*>(asked) : pointer_to(one.begin);
  info.hostBaseAddress = begin;
  info.agentBaseAddress =
      one.kind == Kind::registered ? pointer_to(agent_addresses().at(one.begin)) : begin;
  info.sizeInBytes = one.bytes;
  info.agentOwner = is_on_host(one) || one.kind == Kind::registered
                        ? kHostAgent
                        : virtual_gpu::agent_of(one.device);
}

}  // namespace

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void* data),
    void* data) {
  return run("hsa_amd_agent_iterate_memory_pools",
             [&] { return callback(hsa_amd_memory_pool_t{agent.handle}, data); });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool,
                                                             hsa_amd_memory_pool_info_t attribute,
                                                             void* value) {
  return run("hsa_amd_memory_pool_get_info", [&] {
    switch (attribute) {
      case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
        return put(value, HSA_AMD_SEGMENT_GLOBAL);
      case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
        return put(value, std::uint32_t{is_gpu(agent_of(pool))
                                            ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                                            : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED});
      case HSA_AMD_MEMORY_POOL_INFO_SIZE:
        return put(value, kMemoryBytes);
      case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
        return put(value, true);
      default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  });
}

// The same of all: GPUs are behind one switch.
VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t, hsa_amd_memory_pool_t, hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  return run("hsa_amd_agent_memory_pool_get_info", [&] {
    if (attribute != HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    hsa_amd_memory_pool_link_info_t link{};
    link.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE;
    return put(value, link);
  });
}

// They may use it anyway.
VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_agents_allow_access(uint32_t, const hsa_agent_t*,
                                                            const uint32_t*, const void* ptr) {
  return run("hsa_amd_agents_allow_access", [&] {
    return memory().find(address_of(ptr)) != nullptr ? HSA_STATUS_SUCCESS
                                                     : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  });
}

// UCX's module asks for the symbol. There is no kernel that would take the file.
VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_portable_export_dmabuf(const void*, size_t, int*,
                                                               uint64_t*) {
  return run("hsa_amd_portable_export_dmabuf", [] { return HSA_STATUS_ERROR_OUT_OF_RESOURCES; });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool,
                                                             size_t size, uint32_t, void** ptr) {
  return run("hsa_amd_memory_pool_allocate", [&] {
    if (size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_agent_t agent = agent_of(pool);
    return is_gpu(agent)
               ? told(memory().allocate_on(device_of(agent), {.kind = Kind::device}, size), ptr)
               : told(memory().allocate_readable({.kind = Kind::host}, size), ptr);
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_pool_free(void* ptr) {
  return run("hsa_amd_memory_pool_free", [&] {
    return release(ptr, [](const Allocation& one) {
      return one.kind == Kind::device || one.kind == Kind::host;
    });
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_lock(void* host_ptr, size_t size, hsa_agent_t*, int,
                                                    void** agent_ptr) {
  return run("hsa_amd_memory_lock", [&] {
    const Address begin = address_of(host_ptr);
    if (size == 0 || memory().find(begin) != nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Address of_agents = memory().reservations().take(rounded(size, kPageBytes), kPageBytes);
    agent_addresses()[begin] = of_agents;
    memory().add({.kind = Kind::registered, .begin = begin, .bytes = size});
    *agent_ptr = pointer_to(of_agents);
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_unlock(void* host_ptr) {
  return run("hsa_amd_memory_unlock", [&] {
    const hsa_status_t result =
        release(host_ptr, [](const Allocation& one) { return one.kind == Kind::registered; });
    if (result != HSA_STATUS_SUCCESS) return result;
    const auto of_agents = agent_addresses().find(address_of(host_ptr));
    memory().reservations().give_back(of_agents->second);
    agent_addresses().erase(of_agents);
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_pointer_info(const void* ptr, hsa_amd_pointer_info_t* info,
                                                     void* (*)(size_t), uint32_t*, hsa_agent_t**) {
  return run("hsa_amd_pointer_info", [&] {
    if (info->size < sizeof info->size + sizeof info->type)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_amd_pointer_info_t told{};
    told.size = info->size < sizeof told ? info->size : sizeof told;
    const Allocation* one = memory().find(address_of(ptr));
    const Area::Place place = memory().reservations().place_at(address_of(ptr));
    const bool reserved = address_of(ptr) - place.begin < place.bytes;
    told.type = one != nullptr ? type_of(*one)
                : reserved     ? HSA_EXT_POINTER_TYPE_RESERVED_ADDR
                               : HSA_EXT_POINTER_TYPE_UNKNOWN;
    if (one != nullptr && told.type != HSA_EXT_POINTER_TYPE_UNKNOWN) describe(*one, ptr, told);
    std::memcpy(info, &told, told.size);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t virtual_gpu::copy(void* to, const void* from, std::size_t bytes) {
  const CUresult result = memory().copy(program_address(to), program_address(from), bytes);
  return result == CUDA_SUCCESS ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_memory_copy(void* dst, const void* src, size_t size) {
  return run("hsa_memory_copy", [&] { return copy(dst, src, size); });
}

// --- memory of another process
// ---------------------------------------------------------------------

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_ipc_memory_create(void* ptr, size_t,
                                                          hsa_amd_ipc_memory_t* handle) {
  return run("hsa_amd_ipc_memory_create", [&] {
    const Allocation* one = memory().find_beginning(address_of(ptr));
    if (one == nullptr || one->kind != Kind::device) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const SharedHandle shared = handle_of(*one);
    static_assert(sizeof shared <= sizeof *handle);
    std::memcpy(handle, &shared, sizeof shared);
    return HSA_STATUS_SUCCESS;
  });
}

// It is on the first of the agents that may use it, for the handle does not say where it is.
VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle,
                                                          size_t, uint32_t num_agents,
                                                          const hsa_agent_t* mapping_agents,
                                                          void** mapped_ptr) {
  return run("hsa_amd_ipc_memory_attach", [&] {
    SharedHandle shared;
    std::memcpy(&shared, handle, sizeof shared);
    const bool known = shared.is_whole() && shared.is_of_this_host() && shared.pid != getpid();
    if (!known || (num_agents > 0 && !is_gpu(mapping_agents[0]))) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    const int device = num_agents > 0 ? device_of(mapping_agents[0]) : 0;
    return told(import_memory(shared, device), mapped_ptr);
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_ipc_memory_detach(void* mapped_ptr) {
  return run("hsa_amd_ipc_memory_detach", [&] {
    return release(mapped_ptr, [](const Allocation& one) { return one.kind == Kind::imported; });
  });
}

// --- virtual memory
// ----------------------------------------------------------------------------------

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_vmem_address_reserve(void** va, size_t size, uint64_t,
                                                             uint64_t) {
  return run("hsa_amd_vmem_address_reserve", [&] {
    const Address at = memory().reservations().take(size, kLargePageBytes);
    *va = pointer_to(at);
    return at != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_vmem_address_free(void* va, size_t) {
  return run("hsa_amd_vmem_address_free", [&] {
    return memory().reservations().give_back(address_of(va)) ? HSA_STATUS_SUCCESS
                                                             : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t
hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t, uint64_t,
                           hsa_amd_vmem_alloc_handle_t* memory_handle) {
  return run("hsa_amd_vmem_handle_create", [&] {
    auto block = Block::make(size);
    if (block == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const hsa_agent_t agent = agent_of(pool);
    Physical physical{std::move(block), {}, memory().new_id()};
    physical.properties.location = {
        is_gpu(agent) ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_HOST,
        is_gpu(agent) ? device_of(agent) : 0};
    memory_handle->handle = physical.id;
    handles()[physical.id] = std::make_shared<Physical>(std::move(physical));
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t
hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle) {
  return run("hsa_amd_vmem_handle_release", [&] {
    return handles().erase(memory_handle.handle) != 0 ? HSA_STATUS_SUCCESS
                                                      : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_vmem_map(void* va, size_t size, size_t in_offset,
                                                 hsa_amd_vmem_alloc_handle_t memory_handle,
                                                 uint64_t) {
  return run("hsa_amd_vmem_map", [&] {
    const auto physical = handles().find(memory_handle.handle);
    const bool done = physical != handles().end() &&
                      memory().map(address_of(va), size, physical->second, in_offset) != nullptr;
    return done ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_vmem_unmap(void* va, size_t) {
  return run("hsa_amd_vmem_unmap", [&] {
    return release(va, [](const Allocation& one) { return one.kind == Kind::mapped; });
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_vmem_set_access(void* va, size_t,
                                                        const hsa_amd_memory_access_desc_t*,
                                                        size_t) {
  return run("hsa_amd_vmem_set_access", [&] {
    Allocation* one = memory().find_beginning(address_of(va));
    if (one == nullptr || one->kind != Kind::mapped) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    one->accessible = true;
    return HSA_STATUS_SUCCESS;
  });
}
