#include "device-attributor/memory_events.hpp"

#include <errno.h>

namespace uctrace::gpu {

namespace {

// ucm_event_type_t and ucm_event_t::mem_type of ucm/api/ucm.h, which no package installs. The event
// grew at its end in UCX 1.22; what is here is the same in 1.11 to 1.23.
constexpr int kFreed = 1 << 21, kNoInstall = 1 << 24;
struct MemoryEvent {
  void* address;
  std::size_t bytes;
};

using Handler = void (*)(int type, MemoryEvent* event, void* argument);
using SetHandler = int (*)(int events, int priority, Handler handler, void* argument);

// After UCX's own handler of such events (1000), whose view of the memory is then up to date.
constexpr int kPriority = 2000;

// Called inside the driver's function, before memory is freed.
void on_event(int type, MemoryEvent* event, void* argument) {
  const int saved_errno = errno;  // the program's, of the function that it called
  auto& attributor = *static_cast<Attributor*>(argument);
  if (type == kFreed) {
    attributor.forget(reinterpret_cast<std::uintptr_t>(event->address), event->bytes);
  }
  errno = saved_errno;
}

}  // namespace

Events watch_memory_events(void* set_handler, Attributor& attributor, int* status) {
  if (set_handler == nullptr) {
    return Events::missing;
  }
  const auto set = reinterpret_cast<SetHandler>(set_handler);
  const int told = set(kFreed | kNoInstall, kPriority, on_event, &attributor);
  if (status != nullptr) *status = told;
  return told == 0 ? Events::watched : Events::refused;
}

}  // namespace uctrace::gpu
