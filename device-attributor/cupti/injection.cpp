// libuctrace-cupti.so: CUDA's driver loads it (CUDA_INJECTION64_PATH) when the program initialises
// the driver, before any allocation. It subscribes with CUPTI to the program's allocations and
// reports them to uctrace, which is already in the process. If another tool has subscribed, it
// gives up. It never prints: its messages go into the log.
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>

#include <cstdint>

#include "device-attributor/cupti/calls.hpp"

namespace {

using uctrace::cupti::Tell;

void say(Tell tell, uctrace_device_event_type type, const char* text) {
  struct uctrace_device_event event {};
  event.version = UCTRACE_DEVICE_EVENT_VERSION;
  event.type = type;
  event.text = text;
  tell(&event);
}

void refuse(Tell tell, const char* what, CUptiResult result) {
  const char* reason = nullptr;
  char text[200];
  if (cuptiGetResultString(result, &reason) != CUPTI_SUCCESS) reason = "unknown error";
  snprintf(text, sizeof text, "%s: %s (%d)", what, reason, static_cast<int>(result));
  say(tell, UCTRACE_HISTORY_REFUSED, text);
}

// Since CUPTI 13 the earlier subscriber has a name.
struct Other {
  char name[128] = "";
};

CUptiResult subscribe(CUpti_SubscriberHandle& subscriber, [[maybe_unused]] Other& other) {
#ifdef CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "uctrace";
  params.oldSubscriberName = other.name;
  params.oldSubscriberSize = sizeof other.name;
  return cuptiSubscribe_v2(&subscriber, uctrace::cupti::on_call, nullptr, &params);
#else
  return cuptiSubscribe(&subscriber, uctrace::cupti::on_call, nullptr);
#endif
}

void refuse_beside(Tell tell, const Other& other) {
  char text[200];
  snprintf(text, sizeof text, "another tool uses CUPTI: %s",
           other.name[0] != '\0' ? other.name : "Nsight, a debugger or a profiler");
  say(tell, UCTRACE_HISTORY_REFUSED, text);
}

void begin(Tell tell) {
  CUpti_SubscriberHandle subscriber;
  Other other;
  const CUptiResult result = subscribe(subscriber, other);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    refuse_beside(tell, other);
    return;
  }
  if (result != CUPTI_SUCCESS) {
    refuse(tell, "CUPTI refuses a subscriber", result);
    return;
  }
  uctrace::cupti::tell_to(tell);
  const auto calls = uctrace::cupti::watched_calls();
  for (std::size_t i = 0; i < calls.count; ++i) {
    const CUptiResult enabled =
        cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls.ids[i]);
    if (enabled != CUPTI_SUCCESS) {
      cuptiUnsubscribe(subscriber);
      refuse(tell, "CUPTI does not tell of all calls that allocate", enabled);
      return;
    }
  }
  std::uint32_t version = 0;
  cuptiGetVersion(&version);
  char text[64];
  snprintf(text, sizeof text, "CUPTI, version %u", version);
  say(tell, UCTRACE_HISTORY_BEGINS, text);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  // Without uctrace in the process there is no receiver, and CUPTI is left to others.
  if (void* function = dlsym(RTLD_DEFAULT, "uctrace_device_event")) {
    begin(reinterpret_cast<Tell>(function));
  }
  return 1;  // the driver goes on in any case
}
