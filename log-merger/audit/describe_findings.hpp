// Job::findings in `info --format json` (docs/info.md). Private to log-merger/.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `clock`: how events are placed in time, how well, and contradictions.
nlohmann::ordered_json clock_json(const Job& job);

// The key `folder`: the jobs in it, and the files that are not part of this one.
nlohmann::ordered_json folder_json(const Job& job);

}  // namespace uctrace::merge
