#include "event-log/recorder/last_look.hpp"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

namespace uctrace::log {

namespace {

constinit std::atomic<LastLook> looks[2]{};
// The process that loaded this library. pthread_atfork() would not tell of a child of _Fork().
constinit pid_t loaded_by = 0;

__attribute__((constructor)) void note_process() { loaded_by = getpid(); }

bool is_fork_child() { return getpid() != loaded_by; }

}  // namespace

void add_last_look(LastLook look) {
  for (auto& place : looks) {
    LastLook none = nullptr;
    if (place.compare_exchange_strong(none, look)) return;
  }
}

void take_last_looks(Moment moment) {
  if (is_fork_child() || getenv("UCTRACE_DIR") == nullptr) {
    return;
  }
  const int saved_errno = errno;
  for (const auto& place : looks) {
    if (auto* look = place.load()) look(moment);
  }
  errno = saved_errno;
}

}  // namespace uctrace::log
