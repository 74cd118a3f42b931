// For rooms that remember what the log has: a fork child's log has none of it. Works however the
// child was made: fork(), _Fork() or clone().
#pragma once

namespace uctrace::log {

using Reset = void (*)();

// `reset` is called before anything is recorded in a new log. Register each once;
// async-signal-safe.
void at_new_log(Reset reset);

// Called when a log begins.
void reset_for_new_log();

}  // namespace uctrace::log
