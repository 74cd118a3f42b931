// The paths of the messages. Private to log-merger/rows/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Names the protocol of each message and lays out its hops. `initiators`: as make_messages()
// returns them.
void lay_out_paths(Job& job, const std::vector<UcpIndex>& initiators);

}  // namespace uctrace::merge
