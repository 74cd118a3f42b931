/* The part of CUPTI's interface that the virtual GPUs have (../README.md): callbacks around calls
 * of the driver that concern memory. Written for them; names, numbers and layouts are those of CUDA
 * 13. */
#ifndef UCTRACE_VIRTUAL_CUPTI_H
#define UCTRACE_VIRTUAL_CUPTI_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef UCTRACE_ONLY_FUNCTIONS /* as in cuda.h */

#define CUPTIAPI
#define CUPTI_API_VERSION 130001
#define CUPTI_SUBSCRIBER_NAME_MAX_LEN 53
#define CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN 64

typedef enum {
  CUPTI_SUCCESS = 0,
  CUPTI_ERROR_INVALID_PARAMETER = 1,
  CUPTI_ERROR_INVALID_CONTEXT = 3,
  CUPTI_ERROR_INVALID_STREAM = 20,
  CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
  CUPTI_ERROR_UNKNOWN = 999
} CUptiResult;

typedef enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 } CUpti_ApiCallbackSite;

typedef enum { CUPTI_CB_DOMAIN_DRIVER_API = 1 } CUpti_CallbackDomain;

typedef enum CUpti_driver_api_trace_cbid_enum {
  CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost = 38,
  CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc = 39,
  CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2 = 243,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2 = 244,
  CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2 = 245,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2 = 294,
  CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister = 302,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged = 371,
  CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2 = 379,
  CUPTI_DRIVER_TRACE_CBID_cuMemCreate = 549,
  CUPTI_DRIVER_TRACE_CBID_cuMemMap = 551,
  CUPTI_DRIVER_TRACE_CBID_cuMemUnmap = 552,
  CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle = 555,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync = 598,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz = 599,
  CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync = 600,
  CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz = 601,
  CUPTI_DRIVER_TRACE_CBID_cuDeviceGetDefaultMemPool = 606,
  CUPTI_DRIVER_TRACE_CBID_cuMemPoolCreate = 607,
  CUPTI_DRIVER_TRACE_CBID_cuMemPoolDestroy = 608,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync = 611,
  CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz = 612
} CUpti_driver_api_trace_cbid;

/* --- the arguments of these calls --- */

typedef struct cuMemFreeHost_params_st {
  void* p;
} cuMemFreeHost_params;

typedef struct cuMemHostAlloc_params_st {
  void** pp;
  size_t bytesize;
  unsigned int Flags;
} cuMemHostAlloc_params;

typedef struct cuMemAlloc_v2_params_st {
  CUdeviceptr* dptr;
  size_t bytesize;
} cuMemAlloc_v2_params;

typedef struct cuMemAllocPitch_v2_params_st {
  CUdeviceptr* dptr;
  size_t* pPitch;
  size_t WidthInBytes;
  size_t Height;
  unsigned int ElementSizeBytes;
} cuMemAllocPitch_v2_params;

typedef struct cuMemFree_v2_params_st {
  CUdeviceptr dptr;
} cuMemFree_v2_params;

typedef struct cuMemAllocHost_v2_params_st {
  void** pp;
  size_t bytesize;
} cuMemAllocHost_v2_params;

typedef struct cuMemHostUnregister_params_st {
  void* p;
} cuMemHostUnregister_params;

typedef struct cuMemAllocManaged_params_st {
  CUdeviceptr* dptr;
  size_t bytesize;
  unsigned int flags;
} cuMemAllocManaged_params;

typedef struct cuMemHostRegister_v2_params_st {
  void* p;
  size_t bytesize;
  unsigned int Flags;
} cuMemHostRegister_v2_params;

typedef struct cuMemCreate_params_st {
  CUmemGenericAllocationHandle* handle;
  size_t size;
  const CUmemAllocationProp* prop;
  unsigned long long flags;
} cuMemCreate_params;

typedef struct cuMemMap_params_st {
  CUdeviceptr ptr;
  size_t size;
  size_t offset;
  CUmemGenericAllocationHandle handle;
  unsigned long long flags;
} cuMemMap_params;

typedef struct cuMemUnmap_params_st {
  CUdeviceptr ptr;
  size_t size;
} cuMemUnmap_params;

typedef struct cuMemImportFromShareableHandle_params_st {
  CUmemGenericAllocationHandle* handle;
  void* osHandle;
  CUmemAllocationHandleType shHandleType;
} cuMemImportFromShareableHandle_params;

typedef struct cuMemAllocAsync_params_st {
  CUdeviceptr* dptr;
  size_t bytesize;
  CUstream hStream;
} cuMemAllocAsync_params;

typedef struct cuMemFreeAsync_params_st {
  CUdeviceptr dptr;
  CUstream hStream;
} cuMemFreeAsync_params;

typedef struct cuDeviceGetDefaultMemPool_params_st {
  CUmemoryPool* pool_out;
  CUdevice dev;
} cuDeviceGetDefaultMemPool_params;

typedef struct cuMemPoolCreate_params_st {
  CUmemoryPool* pool;
  const CUmemPoolProps* poolProps;
} cuMemPoolCreate_params;

typedef struct cuMemPoolDestroy_params_st {
  CUmemoryPool pool;
} cuMemPoolDestroy_params;

typedef struct cuMemAllocFromPoolAsync_params_st {
  CUdeviceptr* dptr;
  size_t bytesize;
  CUmemoryPool pool;
  CUstream hStream;
} cuMemAllocFromPoolAsync_params;

/* --- callbacks --- */

typedef uint32_t CUpti_CallbackId;
typedef struct CUpti_Subscriber_st* CUpti_SubscriberHandle;
typedef void(CUPTIAPI* CUpti_CallbackFunc)(void* userdata, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId cbid, const void* cbdata);

typedef struct {
  CUpti_ApiCallbackSite callbackSite;
  const char* functionName;
  const void* functionParams;
  void* functionReturnValue;
  const char* symbolName;
  CUcontext context;
  uint32_t contextUid;
  uint64_t* correlationData;
  uint32_t correlationId;
} CUpti_CallbackData;

typedef struct {
  size_t structSize;
  const char* subscriberName;
  char* oldSubscriberName;
  size_t oldSubscriberSize;
} CUpti_SubscriberParams;
#define CUpti_SubscriberParams_STRUCT_SIZE sizeof(CUpti_SubscriberParams)

#endif /* UCTRACE_ONLY_FUNCTIONS */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* userdata);
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* userdata, CUpti_SubscriberParams* params);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* device);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                               uint32_t* id);
CUptiResult cuptiGetVersion(uint32_t* version);
CUptiResult cuptiGetResultString(CUptiResult result, const char** text);

#ifdef __cplusplus
}
#endif

#endif
