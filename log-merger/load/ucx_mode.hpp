// The UCX that a job used, and how it was recorded.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// "stock", "rebuilt", "mixed" if not the same everywhere, null if UCX was not used.
nlohmann::ordered_json ucx_mode(const Job& job);

// [{path, version, processes, workers, operations}] for each libucp.
nlohmann::ordered_json ucp_libraries_json(const Job& job);

// [{path, mode, processes}] for each libuct.
nlohmann::ordered_json uct_libraries_json(const Job& job);

}  // namespace uctrace::merge
