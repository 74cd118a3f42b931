// For things that a process does once in each of its logs: a fork child has its own log, without
// its parent's entries.
#pragma once

#include <atomic>
#include <cstdint>

#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

class OncePerLog {
 public:
  // True once per log, for one thread; never without a log. A load or two, and the first time an
  // exchange.
  bool take() {
    const std::uint32_t log = log_number();
    return log != 0 && taken_in_.load(std::memory_order_relaxed) != log &&
           taken_in_.exchange(log, std::memory_order_relaxed) != log;
  }

 private:
  std::atomic<std::uint32_t> taken_in_{0};
};

}  // namespace uctrace::log
