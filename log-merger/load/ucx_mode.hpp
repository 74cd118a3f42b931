// Which UCX a job used, and by which way in it was recorded.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// "stock", "rebuilt", "mixed" where that is not the same for all of it, null where UCX was not
// used.
nlohmann::ordered_json ucx_mode(const Job& job);

// [{path, version, processes, workers, operations}] of each libucp.
nlohmann::ordered_json ucp_libraries_json(const Job& job);

// [{path, mode, processes}] of each libuct.
nlohmann::ordered_json uct_libraries_json(const Job& job);

}  // namespace uctrace::merge
