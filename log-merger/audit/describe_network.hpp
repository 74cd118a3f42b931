// The counters of network cards in `info`.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/audit/totals.hpp"

namespace uctrace::merge {

// {hosts: [{host, read, why, remarks}], cards}: whether the counters of each host's cards were read
// at the start and at the end, else what is missing and why; and what each card carried.
nlohmann::ordered_json network_json(const Job& job, const Found& found);

}  // namespace uctrace::merge
