#include "event-log/recorder/new_log.hpp"

#include "event-log/recorder/registered.hpp"

namespace uctrace::log {

namespace {

constinit Registered<Reset, 4> resets;

}  // namespace

void at_new_log(Reset reset) {
  if (!resets.add(reset)) __builtin_trap();  // there must be a place for each room
}

void reset_for_new_log() { resets.call(); }

}  // namespace uctrace::log
