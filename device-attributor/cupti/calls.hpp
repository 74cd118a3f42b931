// What the calls of CUDA's driver mean for memory, told to uctrace as they are made.
#pragma once

#include <cupti.h>

#include <cstddef>

#include "device-attributor/history.h"

namespace uctrace::cupti {

using Tell = void (*)(const struct uctrace_device_event* event);

// Whom calls are told to: before the first one comes.
void tell_to(Tell wanted);

// The functions of the driver that have to be watched.
struct WatchedCalls {
  const CUpti_CallbackId* ids;
  std::size_t count;
};
WatchedCalls watched_calls();

// CUPTI's callback, around each of them. Calls nothing of the driver.
void CUPTIAPI on_call(void* nothing, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const void* data);

}  // namespace uctrace::cupti
