// Reports to uctrace what calls of CUDA's driver do to memory, as they are made.
#pragma once

#include <cupti.h>

#include <cstddef>

#include "device-attributor/history.h"

namespace uctrace::cupti {

using Tell = void (*)(const struct uctrace_device_event* event);

// Sets the receiver of reports, before the first call.
void tell_to(Tell wanted);

// The functions of the driver to watch.
struct WatchedCalls {
  const CUpti_CallbackId* ids;
  std::size_t count;
};
WatchedCalls watched_calls();

// CUPTI's callback around each of them. Calls no function of the driver.
void CUPTIAPI on_call(void* nothing, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const void* data);

}  // namespace uctrace::cupti
