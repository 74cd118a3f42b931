// What the page knows about devices: the GPUs and network cards of the run, and how far they are
// from each other. The page itself sums up the traffic between them (docs/page-data.md).
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/model/model.hpp"

namespace uctrace {

// {"gpus": [...], "nics": [...], "gpu_nic": [...]}.
nlohmann::ordered_json devices_json(const Run& run);

}  // namespace uctrace
