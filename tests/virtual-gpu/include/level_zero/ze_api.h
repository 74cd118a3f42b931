/* The part of Level Zero's interface that the virtual GPUs have (../../README.md). Written for
 * them; names, numbers and layouts are those of Level Zero 1.7, and newer ones of 1.15. */
#ifndef UCTRACE_VIRTUAL_ZE_API_H
#define UCTRACE_VIRTUAL_ZE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef UCTRACE_ONLY_FUNCTIONS /* compare_headers.py declares the functions twice */

#define ZE_APICALL
#define ZE_MAX_DEVICE_UUID_SIZE 16
#define ZE_MAX_DEVICE_NAME 256
#define ZE_MAX_IPC_HANDLE_SIZE 64

typedef struct _ze_driver_handle_t* ze_driver_handle_t;
typedef struct _ze_device_handle_t* ze_device_handle_t;
typedef struct _ze_context_handle_t* ze_context_handle_t;
typedef struct _ze_command_list_handle_t* ze_command_list_handle_t;
typedef struct _ze_event_handle_t* ze_event_handle_t;
typedef struct _ze_physical_mem_handle_t* ze_physical_mem_handle_t;

typedef enum _ze_result_t {
  ZE_RESULT_SUCCESS = 0,
  ZE_RESULT_ERROR_DEVICE_LOST = 0x70000001,
  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003,
  ZE_RESULT_ERROR_UNINITIALIZED = 0x78000001,
  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE = 0x78000003,
  ZE_RESULT_ERROR_INVALID_ARGUMENT = 0x78000004,
  ZE_RESULT_ERROR_INVALID_NULL_HANDLE = 0x78000005,
  ZE_RESULT_ERROR_ADDRESS_NOT_FOUND = 0x78000021
} ze_result_t;

typedef enum _ze_structure_type_t {
  ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES = 0x3,
  ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES = 0x7,
  ZE_STRUCTURE_TYPE_CONTEXT_DESC = 0xd,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC = 0xe,
  ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC = 0x15,
  ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC = 0x16,
  ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES = 0x17,
  ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC = 0x20,
  ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES = 0x10008,
  ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC = 0x20037
} ze_structure_type_t;

typedef enum _ze_api_version_t { ZE_API_VERSION_1_3 = 0x10003 } ze_api_version_t;

typedef enum _ze_device_type_t { ZE_DEVICE_TYPE_GPU = 1, ZE_DEVICE_TYPE_VPU = 5 } ze_device_type_t;

typedef enum _ze_memory_type_t {
  ZE_MEMORY_TYPE_UNKNOWN = 0,
  ZE_MEMORY_TYPE_HOST = 1,
  ZE_MEMORY_TYPE_DEVICE = 2,
  ZE_MEMORY_TYPE_SHARED = 3,
  ZE_MEMORY_TYPE_HOST_IMPORTED = 4
} ze_memory_type_t;

typedef enum _ze_memory_access_attribute_t {
  ZE_MEMORY_ACCESS_ATTRIBUTE_NONE = 0,
  ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE = 1
} ze_memory_access_attribute_t;

typedef uint32_t ze_init_flags_t;
typedef uint32_t ze_device_property_flags_t;
typedef uint32_t ze_device_memory_property_flags_t;
typedef uint32_t ze_context_flags_t;
typedef uint32_t ze_device_mem_alloc_flags_t;
typedef uint32_t ze_host_mem_alloc_flags_t;
typedef uint32_t ze_ipc_memory_flags_t;
typedef uint32_t ze_physical_mem_flags_t;

typedef struct _ze_device_uuid_t {
  uint8_t id[ZE_MAX_DEVICE_UUID_SIZE];
} ze_device_uuid_t;

typedef struct _ze_device_properties_t {
  ze_structure_type_t stype;
  void* pNext;
  ze_device_type_t type;
  uint32_t vendorId;
  uint32_t deviceId;
  ze_device_property_flags_t flags;
  uint32_t subdeviceId;
  uint32_t coreClockRate;
  uint64_t maxMemAllocSize;
  uint32_t maxHardwareContexts;
  uint32_t maxCommandQueuePriority;
  uint32_t numThreadsPerEU;
  uint32_t physicalEUSimdWidth;
  uint32_t numEUsPerSubslice;
  uint32_t numSubslicesPerSlice;
  uint32_t numSlices;
  uint64_t timerResolution;
  uint32_t timestampValidBits;
  uint32_t kernelTimestampValidBits;
  ze_device_uuid_t uuid;
  char name[ZE_MAX_DEVICE_NAME];
} ze_device_properties_t;

typedef struct _ze_pci_address_ext_t {
  uint32_t domain;
  uint32_t bus;
  uint32_t device;
  uint32_t function;
} ze_pci_address_ext_t;

typedef struct _ze_pci_speed_ext_t {
  int32_t genVersion;
  int32_t width;
  int64_t maxBandwidth;
} ze_pci_speed_ext_t;

typedef struct _ze_pci_ext_properties_t {
  ze_structure_type_t stype;
  void* pNext;
  ze_pci_address_ext_t address;
  ze_pci_speed_ext_t maxSpeed;
} ze_pci_ext_properties_t;

typedef struct _ze_device_memory_properties_t {
  ze_structure_type_t stype;
  void* pNext;
  ze_device_memory_property_flags_t flags;
  uint32_t maxClockRate;
  uint32_t maxBusWidth;
  uint64_t totalSize;
  char name[ZE_MAX_DEVICE_NAME];
} ze_device_memory_properties_t;

typedef struct _ze_context_desc_t {
  ze_structure_type_t stype;
  const void* pNext;
  ze_context_flags_t flags;
} ze_context_desc_t;

typedef struct _ze_device_mem_alloc_desc_t {
  ze_structure_type_t stype;
  const void* pNext;
  ze_device_mem_alloc_flags_t flags;
  uint32_t ordinal;
} ze_device_mem_alloc_desc_t;

typedef struct _ze_host_mem_alloc_desc_t {
  ze_structure_type_t stype;
  const void* pNext;
  ze_host_mem_alloc_flags_t flags;
} ze_host_mem_alloc_desc_t;

typedef struct _ze_external_memmap_sysmem_ext_desc_t {
  ze_structure_type_t stype;
  const void* pNext;
  void* pSystemMemory;
  uint64_t size;
} ze_external_memmap_sysmem_ext_desc_t;

typedef struct _ze_memory_allocation_properties_t {
  ze_structure_type_t stype;
  void* pNext;
  ze_memory_type_t type;
  uint64_t id;
  uint64_t pageSize;
} ze_memory_allocation_properties_t;

typedef struct _ze_ipc_mem_handle_t {
  char data[ZE_MAX_IPC_HANDLE_SIZE];
} ze_ipc_mem_handle_t;

typedef struct _ze_physical_mem_desc_t {
  ze_structure_type_t stype;
  const void* pNext;
  ze_physical_mem_flags_t flags;
  size_t size;
} ze_physical_mem_desc_t;

/* Of a queue nothing is said that the virtual GPUs need. */
struct _ze_command_queue_desc_t;
typedef struct _ze_command_queue_desc_t ze_command_queue_desc_t;

#endif /* UCTRACE_ONLY_FUNCTIONS */

ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags);
ze_result_t ZE_APICALL zeDriverGet(uint32_t* pCount, ze_driver_handle_t* phDrivers);
ze_result_t ZE_APICALL zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t* version);
ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t hDriver, uint32_t* pCount,
                                   ze_device_handle_t* phDevices);
ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t* pCount,
                                             ze_device_handle_t* phSubdevices);
ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t hDevice,
                                             ze_device_properties_t* pDeviceProperties);
ze_result_t ZE_APICALL zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                   ze_pci_ext_properties_t* pPciProperties);
ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t* pCount,
                                                   ze_device_memory_properties_t* pMemProperties);
ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t* desc,
                                       ze_context_handle_t* phContext);
ze_result_t ZE_APICALL zeContextDestroy(ze_context_handle_t hContext);

ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                                    ze_device_handle_t hDevice,
                                                    const ze_command_queue_desc_t* altdesc,
                                                    ze_command_list_handle_t* phCommandList);
ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList,
                                                     void* dstptr, const void* srcptr, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t* phWaitEvents);
ze_result_t ZE_APICALL zeCommandListDestroy(ze_command_list_handle_t hCommandList);

ze_result_t ZE_APICALL zeMemAllocShared(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t* device_desc,
                                        const ze_host_mem_alloc_desc_t* host_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void** pptr);
ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t* device_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void** pptr);
ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t hContext,
                                      const ze_host_mem_alloc_desc_t* host_desc, size_t size,
                                      size_t alignment, void** pptr);
ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t hContext, void* ptr);
ze_result_t ZE_APICALL zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void* ptr,
    ze_memory_allocation_properties_t* pMemAllocProperties, ze_device_handle_t* phDevice);
ze_result_t ZE_APICALL zeMemGetAddressRange(ze_context_handle_t hContext, const void* ptr,
                                            void** pBase, size_t* pSize);
ze_result_t ZE_APICALL zeMemGetIpcHandle(ze_context_handle_t hContext, const void* ptr,
                                         ze_ipc_mem_handle_t* pIpcHandle);
ze_result_t ZE_APICALL zeMemOpenIpcHandle(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                          ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                          void** pptr);
ze_result_t ZE_APICALL zeMemCloseIpcHandle(ze_context_handle_t hContext, const void* ptr);

ze_result_t ZE_APICALL zeVirtualMemReserve(ze_context_handle_t hContext, const void* pStart,
                                           size_t size, void** pptr);
ze_result_t ZE_APICALL zeVirtualMemFree(ze_context_handle_t hContext, const void* ptr, size_t size);
ze_result_t ZE_APICALL zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           ze_physical_mem_desc_t* desc,
                                           ze_physical_mem_handle_t* phPhysicalMemory);
ze_result_t ZE_APICALL zePhysicalMemDestroy(ze_context_handle_t hContext,
                                            ze_physical_mem_handle_t hPhysicalMemory);
ze_result_t ZE_APICALL zeVirtualMemMap(ze_context_handle_t hContext, const void* ptr, size_t size,
                                       ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                                       ze_memory_access_attribute_t access);
ze_result_t ZE_APICALL zeVirtualMemUnmap(ze_context_handle_t hContext, const void* ptr,
                                         size_t size);
ze_result_t ZE_APICALL zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext, const void* ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t* access,
                                                      size_t* outSize);

/* Since 1.7. */
ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t* phRootDevice);

#ifdef __cplusplus
}
#endif

#endif
