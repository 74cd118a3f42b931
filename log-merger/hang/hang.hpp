// Which ranks of an unfinished job wait for which: the output of `uctrace hang` (docs/hang.md).
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `hang` of `info --format json`. Call it after the rows of the run were made.
nlohmann::ordered_json hang_json(const Job& job);

}  // namespace uctrace::merge
