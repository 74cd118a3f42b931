// The libraries above UCX other than MPI that the processes called: the key `libraries` of `info
// --format json` (docs/libraries.md). Private to log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

nlohmann::ordered_json libraries_json(const Job& job);

}  // namespace uctrace::merge
