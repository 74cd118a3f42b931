// What a room keeps of what it has told the log already: a fork child has a log of its own, which
// knows nothing of it. However the child was made: fork(), _Fork() or clone().
#pragma once

namespace uctrace::log {

using Reset = void (*)();

// `reset` is called before anything is recorded in a new log. Once for each; async-signal-safe.
void at_new_log(Reset reset);

// For who begins the log.
void reset_for_new_log();

}  // namespace uctrace::log
