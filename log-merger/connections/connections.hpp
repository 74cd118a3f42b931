// UCT endpoints: when each was made, connected and first used, and the message that waited for it.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Makes Run::connections, the waits of messages for them, and Run::estimates. After messages,
// processes and settings have their rows, and before UCT operations are dropped. Sets
// Message::first as well.
void add_connections(Job& job);

}  // namespace uctrace::merge
