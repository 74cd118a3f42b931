// Counts UCP endpoints by how their peers are known, and the peers without a log. Private to
// log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `peers` of `info --format json` (docs/info.md).
nlohmann::ordered_json peers_json(const Job& job);

// Whether a process outside the logs may have sent something: an MPI job's world lists all
// processes, unless it is connected to another one.
bool may_have_unlogged_peers(const Job& job);

// A note on peers without a log, if operations went to them.
void note_unlogged_peers(Job& job);

}  // namespace uctrace::merge
