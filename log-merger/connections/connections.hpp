// UCT endpoints: when each was made, connected and first used, and which message waited for that.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Makes Run::connections, and what messages waited for them. When messages have their rows, and
// before UCT operations go. Sets Message::first as well.
void add_connections(Job& job);

}  // namespace uctrace::merge
