#include "event-log/recorder/last_look.hpp"

#include <errno.h>
#include <stdlib.h>

#include "event-log/recorder/recorder_parts.hpp"
#include "event-log/recorder/registered.hpp"

namespace uctrace::log {

namespace {

constinit Registered<LastLook, 2> looks;

}  // namespace

void add_last_look(LastLook look) { looks.add(look); }

void take_last_looks(Moment moment) {
  if (is_fork_child() || getenv("UCTRACE_DIR") == nullptr) {
    return;
  }
  const int saved_errno = errno;
  looks.call(moment);
  errno = saved_errno;
}

}  // namespace uctrace::log
