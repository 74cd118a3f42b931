// The traffic of each network card of each host: by its port's counters, and as recorded.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/model/network_cards.hpp"

namespace uctrace::merge {

// By host, then device. After link_peers() and attribute_transfers(), while the job has its UCT
// operations.
std::vector<NetworkCard> find_rails(const Job& job);

// Its data comes from the other end; otherwise it goes there.
bool brings_data(const UctOp& op);

}  // namespace uctrace::merge
