// Memory of GPUs of ROCm and of Level Zero, for programs that send it, and the names of their GPUs.
// To be included after a header with check(), such as ucp_pair.h.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <level_zero/ze_api.h>

#include "contents.h"

enum { kVendorNameBytes = 64, kHandleBytes = 64, kMappedBytes = 2 << 20, kMostAgents = 17 };

// The other process's memory of a kind that is "imported": how the two exchange a handle.
typedef void (*exchange_function)(void* handle, size_t bytes);

struct vendor_kind {
  const char *name, *memory, *row;  // as uctrace calls it, and in /device_memory; NULL: not there
};

struct vendor {
  const char* name;
  void (*open)(int device);  // which this process uses
  void (*name_gpu)(char name[kVendorNameBytes]);
  void* (*allocate)(const char* kind, size_t bytes, exchange_function exchange);
  void (*copy)(void* to, const void* from, size_t bytes);
  const struct vendor_kind* kinds;  // the last one has no name
};

static inline int is_kind(const char* kind, const char* name) { return strcmp(kind, name) == 0; }

// --- ROCm ----------------------------------------------------------------------------------------

static hsa_agent_t rocm_agents[kMostAgents];  // the host's, then those of the GPUs
static int rocm_agent_count;
static hsa_agent_t rocm_gpu;

static inline void check_hsa(hsa_status_t status, const char* what) {
  check(status == HSA_STATUS_SUCCESS, what);
}
#define CHECK_HSA(call) check_hsa(call, #call)

static inline hsa_status_t note_agent(hsa_agent_t agent, void* data) {
  (void)data;
  rocm_agents[rocm_agent_count++] = agent;
  return HSA_STATUS_SUCCESS;
}

static inline void open_rocm(int device) {
  rocm_agent_count = 0;
  CHECK_HSA(hsa_init());
  CHECK_HSA(hsa_iterate_agents(note_agent, NULL));
  rocm_gpu = rocm_agents[1 + device];
}

static inline void name_rocm_gpu(char name[kVendorNameBytes]) {
  CHECK_HSA(hsa_agent_get_info(rocm_gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, name));
}

static inline hsa_status_t note_pool(hsa_amd_memory_pool_t pool, void* data) {
  *(hsa_amd_memory_pool_t*)data = pool;
  return HSA_STATUS_SUCCESS;
}

static inline hsa_amd_memory_pool_t pool_of(hsa_agent_t agent) {
  hsa_amd_memory_pool_t pool;
  CHECK_HSA(hsa_amd_agent_iterate_memory_pools(agent, note_pool, &pool));
  return pool;
}

static inline void* allocate_rocm(const char* kind, size_t bytes, exchange_function exchange) {
  void *address = NULL, *of_agents;
  hsa_amd_vmem_alloc_handle_t physical;
  if (is_kind(kind, "vmm")) {
    CHECK_HSA(hsa_amd_vmem_address_reserve(&address, kMappedBytes, 0, 0));
    CHECK_HSA(hsa_amd_vmem_handle_create(pool_of(rocm_gpu), kMappedBytes, MEMORY_TYPE_PINNED, 0,
                                         &physical));
    CHECK_HSA(hsa_amd_vmem_map(address, kMappedBytes, 0, physical, 0));
    CHECK_HSA(hsa_amd_vmem_set_access(address, kMappedBytes, NULL, 0));
    return address;
  }
  if (is_kind(kind, "locked")) {
    address = make_buffer(bytes);
    CHECK_HSA(hsa_amd_memory_lock(address, bytes, &rocm_gpu, 1, &of_agents));
    return address;
  }
  const hsa_agent_t agent = is_kind(kind, "pinned") ? rocm_agents[0] : rocm_gpu;
  CHECK_HSA(hsa_amd_memory_pool_allocate(pool_of(agent), bytes, 0, &address));
  if (is_kind(kind, "imported")) {
    hsa_amd_ipc_memory_t handle;
    CHECK_HSA(hsa_amd_ipc_memory_create(address, bytes, &handle));
    exchange(&handle, sizeof handle);
    CHECK_HSA(hsa_amd_ipc_memory_attach(&handle, bytes, 1, &rocm_gpu, &address));
  }
  return address;
}

static inline void copy_rocm(void* to, const void* from, size_t bytes) {
  CHECK_HSA(hsa_memory_copy(to, from, bytes));
}

static const struct vendor_kind kRocmKinds[] = {
    {"device", "gpu", "device"},  {"vmm", "gpu", "mapped"},     {"imported", "gpu", "imported"},
    {"pinned", "host", "pinned"}, {"locked", "host", "pinned"}, {NULL, NULL, NULL}};

// --- Level Zero ----------------------------------------------------------------------------------

static ze_context_handle_t ze_context;
static ze_device_handle_t ze_gpu;
static ze_command_list_handle_t ze_commands;

static inline void check_ze(ze_result_t result, const char* what) {
  check(result == ZE_RESULT_SUCCESS, what);
}
#define CHECK_ZE(call) check_ze(call, #call)

static inline void open_level_zero(int device) {
  ze_driver_handle_t driver;
  ze_device_handle_t devices[kMostAgents];
  uint32_t drivers = 1, count = kMostAgents;
  const ze_context_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  CHECK_ZE(zeInit(0));
  CHECK_ZE(zeDriverGet(&drivers, &driver));
  CHECK_ZE(zeDeviceGet(driver, &count, devices));
  CHECK_ZE(zeContextCreate(driver, &wanted, &ze_context));
  ze_gpu = devices[device];
  CHECK_ZE(zeCommandListCreateImmediate(ze_context, ze_gpu, NULL, &ze_commands));
}

static inline void name_level_zero_gpu(char name[kVendorNameBytes]) {
  ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  CHECK_ZE(zeDeviceGetProperties(ze_gpu, &properties));
  char* end = name + sprintf(name, "GPU");
  for (int i = 0; i < ZE_MAX_DEVICE_UUID_SIZE; ++i) {
    const char* dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    end += sprintf(end, "%s%02x", dash, properties.uuid.id[i]);
  }
}

static inline void* allocate_level_zero(const char* kind, size_t bytes,
                                        exchange_function exchange) {
  const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  void* address = NULL;
  if (is_kind(kind, "vmm")) {
    ze_physical_mem_desc_t wanted = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                     .size = kMappedBytes};
    ze_physical_mem_handle_t physical;
    CHECK_ZE(zeVirtualMemReserve(ze_context, NULL, kMappedBytes, &address));
    CHECK_ZE(zePhysicalMemCreate(ze_context, ze_gpu, &wanted, &physical));
    CHECK_ZE(zeVirtualMemMap(ze_context, address, kMappedBytes, physical, 0,
                             ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  } else if (is_kind(kind, "shared")) {
    CHECK_ZE(zeMemAllocShared(ze_context, &on_device, &on_host, bytes, 1, ze_gpu, &address));
  } else if (is_kind(kind, "pinned")) {
    CHECK_ZE(zeMemAllocHost(ze_context, &on_host, bytes, 1, &address));
  } else {
    CHECK_ZE(zeMemAllocDevice(ze_context, &on_device, bytes, 1, ze_gpu, &address));
  }
  if (is_kind(kind, "imported")) {
    ze_ipc_mem_handle_t handle;
    CHECK_ZE(zeMemGetIpcHandle(ze_context, address, &handle));
    exchange(&handle, sizeof handle);
    CHECK_ZE(zeMemOpenIpcHandle(ze_context, ze_gpu, handle, 0, &address));
  }
  return address;
}

static inline void copy_level_zero(void* to, const void* from, size_t bytes) {
  CHECK_ZE(zeCommandListAppendMemoryCopy(ze_commands, to, from, bytes, NULL, 0, NULL));
}

// To Level Zero memory of another process is memory of the device that it is opened for.
static const struct vendor_kind kLevelZeroKinds[] = {
    {"device", "gpu", "device"},      {"vmm", "gpu", "mapped"},     {"imported", "gpu", "device"},
    {"shared", "managed", "managed"}, {"pinned", "host", "pinned"}, {NULL, NULL, NULL}};

static const struct vendor kVendors[] = {
    {"rocm", open_rocm, name_rocm_gpu, allocate_rocm, copy_rocm, kRocmKinds},
    {"level_zero", open_level_zero, name_level_zero_gpu, allocate_level_zero, copy_level_zero,
     kLevelZeroKinds}};
enum { kVendorCount = sizeof kVendors / sizeof *kVendors };
