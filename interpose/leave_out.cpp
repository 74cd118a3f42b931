#include "interpose/leave_out.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "interpose/fork_lock.hpp"

namespace uctrace::interpose {

namespace {

// The program may change its environment later, and free what getenv() gave.
constinit char value[1024]{};
constinit std::atomic<bool> is_read{false};
constinit ForkLock reading;

void read_once() {
  const Held held(reading);
  if (is_read.load(std::memory_order_relaxed)) return;
  const char* wanted = getenv("UCTRACE_LEAVE_OUT");
  if (wanted != nullptr && strlen(wanted) < sizeof value) strcpy(value, wanted);
  is_read.store(true, std::memory_order_release);
}

}  // namespace

const char* leave_out() {
  if (!is_read.load(std::memory_order_acquire)) read_once();
  return value[0] != '\0' ? value : nullptr;
}

bool left_out(const char* name, std::size_t length) {
  const char* at = leave_out();
  while (at != nullptr) {
    const char* end = strchrnul(at, ',');
    if (static_cast<std::size_t>(end - at) == length && memcmp(at, name, length) == 0) {
      return true;
    }
    at = *end != '\0' ? end + 1 : nullptr;
  }
  return false;
}

}  // namespace uctrace::interpose
