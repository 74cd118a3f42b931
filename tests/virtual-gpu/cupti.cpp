// libcupti.so.13 of the virtual GPUs: callbacks around the driver's calls that concern memory, for
// one client. VIRTUAL_CUPTI_SUBSCRIBER is the name of one that was there before.
#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "driver/watched.hpp"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback;
  void* userdata;
  std::string name;
  std::map<CUpti_CallbackId, bool> enabled;
};

namespace {

#define NAMED(function) \
  { #function, CUPTI_DRIVER_TRACE_CBID_##function }
constexpr std::array<std::pair<const char*, CUpti_CallbackId>, 22> kCalls = {{
    NAMED(cuMemFreeHost),
    NAMED(cuMemHostAlloc),
    NAMED(cuMemAlloc_v2),
    NAMED(cuMemAllocPitch_v2),
    NAMED(cuMemFree_v2),
    NAMED(cuMemAllocHost_v2),
    NAMED(cuMemHostUnregister),
    NAMED(cuMemAllocManaged),
    NAMED(cuMemHostRegister_v2),
    NAMED(cuMemCreate),
    NAMED(cuMemMap),
    NAMED(cuMemUnmap),
    NAMED(cuMemImportFromShareableHandle),
    NAMED(cuMemAllocAsync),
    NAMED(cuMemAllocAsync_ptsz),
    NAMED(cuMemFreeAsync),
    NAMED(cuMemFreeAsync_ptsz),
    NAMED(cuDeviceGetDefaultMemPool),
    NAMED(cuMemPoolCreate),
    NAMED(cuMemPoolDestroy),
    NAMED(cuMemAllocFromPoolAsync),
    NAMED(cuMemAllocFromPoolAsync_ptsz),
}};
#undef NAMED

std::mutex& lock() {
  static auto& only = *new std::mutex();
  return only;
}
std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};

CUpti_CallbackId id_of(const char* function) {
  for (const auto& [name, id] : kCalls) {
    if (std::strcmp(name, function) == 0) return id;
  }
  return 0;
}

void on_call(const char* function, const void* params, CUcontext context, const CUresult* result,
             std::uint64_t* correlation) {
  const CUpti_SubscriberHandle client = subscriber.load();
  const CUpti_CallbackId id = id_of(function);
  if (client == nullptr || !client->enabled.at(id)) return;
  CUresult told = result != nullptr ? *result : CUDA_SUCCESS;
  const CUpti_CallbackData data{
      .callbackSite = result != nullptr ? CUPTI_API_EXIT : CUPTI_API_ENTER,
      .functionName = function,
      .functionParams = params,
      .functionReturnValue = result != nullptr ? &told : nullptr,
      .symbolName = nullptr,
      .context = context,
      .contextUid = 0,
      .correlationData = correlation,
      .correlationId = 0};
  client->callback(client->userdata, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

// The name of the existing subscriber, "" = none.
std::string occupant() {
  const char* before = std::getenv("VIRTUAL_CUPTI_SUBSCRIBER");
  if (before != nullptr) return before;
  const CUpti_SubscriberHandle client = subscriber.load();
  return client != nullptr ? "CUPTI for " + client->name : "";
}

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* userdata,
                      const char* name, std::string& other) {
  const std::lock_guard guard(lock());
  other = occupant();
  if (!other.empty()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (handle == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *handle = new CUpti_Subscriber_st{callback, userdata, name != nullptr ? name : "", {}};
  // Before any call comes: the map is only read from then on, but for what is enabled.
  for (const auto& [function, id] : kCalls) (*handle)->enabled[id] = false;
  (*handle)->enabled[0] = false;
  subscriber.store(*handle);
  virtualGpuWatch(on_call);
  return CUPTI_SUCCESS;
}

}  // namespace

VIRTUAL_GPU_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle,
                                              CUpti_CallbackFunc callback, void* userdata) {
  std::string other;
  return subscribe(handle, callback, userdata, "", other);
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                                                 CUpti_CallbackFunc callback, void* userdata,
                                                 CUpti_SubscriberParams* params) {
  std::string other;
  const CUptiResult result =
      subscribe(handle, callback, userdata, params != nullptr ? params->subscriberName : "", other);
  if (params != nullptr && params->oldSubscriberName != nullptr && !other.empty()) {
    std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", other.c_str());
  }
  return result;
}

// Callbacks in progress may still need it: it is not freed.
VIRTUAL_GPU_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  CUpti_SubscriberHandle there = handle;
  if (!subscriber.compare_exchange_strong(there, nullptr)) return CUPTI_ERROR_INVALID_PARAMETER;
  virtualGpuWatch(nullptr);
  return CUPTI_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                                   CUpti_CallbackDomain domain,
                                                   CUpti_CallbackId id) {
  const bool known = handle == subscriber.load() && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
                     id != 0 && handle->enabled.contains(id);
  if (!known) return CUPTI_ERROR_INVALID_PARAMETER;
  handle->enabled[id] = enable != 0;
  return CUPTI_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* device) {
  const CUcontext asked = context != nullptr ? context : virtualGpuContextOf(nullptr);
  if (asked == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  *device = static_cast<uint32_t>(asked->device);
  return CUPTI_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t,
                                                  uint32_t* id) {
  if (virtualGpuContextOf(stream) != context) return CUPTI_ERROR_INVALID_STREAM;
  *id = static_cast<uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return CUPTI_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

VIRTUAL_GPU_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}
