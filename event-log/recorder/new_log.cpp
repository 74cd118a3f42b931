#include "event-log/recorder/new_log.hpp"

#include <atomic>

namespace uctrace::log {

namespace {

constinit std::atomic<Reset> resets[4]{};

}  // namespace

void at_new_log(Reset reset) {
  for (auto& place : resets) {
    Reset none = nullptr;
    if (place.compare_exchange_strong(none, reset) || none == reset) return;
  }
  __builtin_trap();  // there is a place for each room that has any
}

void reset_for_new_log() {
  for (const auto& place : resets) {
    if (const Reset reset = place.load()) reset();
  }
}

}  // namespace uctrace::log
