// Who of an unfinished job waits for whom: what `uctrace hang` tells (docs/hang.md).
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `hang` of `info --format json`. When the rows of the run were made.
nlohmann::ordered_json hang_json(const Job& job);

}  // namespace uctrace::merge
