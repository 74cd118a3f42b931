#include "interpose/leave_out.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

namespace uctrace::interpose {

namespace {

// The program may change its environment later, and free what getenv() gave.
constinit char value[1024]{};
enum class Read : unsigned char { not_yet, now, done };
constinit std::atomic<Read> read_state{Read::not_yet};

void read_once() {
  Read expected = Read::not_yet;
  if (read_state.compare_exchange_strong(expected, Read::now)) {
    const char* wanted = getenv("UCTRACE_LEAVE_OUT");
    if (wanted != nullptr && strlen(wanted) < sizeof value) {
      strcpy(value, wanted);
    }
    read_state.store(Read::done, std::memory_order_release);
  }
  while (read_state.load(std::memory_order_acquire) != Read::done) {
  }
}

}  // namespace

const char* leave_out() {
  if (read_state.load(std::memory_order_acquire) != Read::done) {
    read_once();
  }
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
