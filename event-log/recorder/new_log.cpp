#include "event-log/recorder/new_log.hpp"

#include "event-log/recorder/registered.hpp"

namespace uctrace::log {

namespace {

constinit Registered<Reset, 4> resets;

}  // namespace

void at_new_log(Reset reset) {
  if (!resets.add(reset)) __builtin_trap();  // there is a place for each room that has any
}

void reset_for_new_log() { resets.call(); }

}  // namespace uctrace::log
