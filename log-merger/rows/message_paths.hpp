// The paths of the messages. Private to log-merger/rows/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Names the protocol of each message and builds its hops. `initiators`: the result of
// make_messages().
void lay_out_paths(Job& job, const std::vector<UcpIndex>& initiators);

}  // namespace uctrace::merge
