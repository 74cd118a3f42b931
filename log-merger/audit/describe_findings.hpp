// Job::findings in `info --format json` (docs/info.md). Private to log-merger/.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `clock`: what places the events in time, how well, and what contradicts it.
nlohmann::ordered_json clock_json(const Job& job);

// The key `folder`: which jobs lie there, and which files did not become part of this one.
nlohmann::ordered_json folder_json(const Job& job);

}  // namespace uctrace::merge
