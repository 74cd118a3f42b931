// UCP endpoints by how their peers are known, and the peers that left no log. Private to
// log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The key `peers` of `info --format json` (docs/info.md).
nlohmann::ordered_json peers_json(const Job& job);

// Whether somebody outside of the logs may have sent something: in a job of MPI its world says who
// there is, unless it is connected to another one.
bool may_have_unlogged_peers(const Job& job);

// A note on those without a log, if operations went to them.
void note_unlogged_peers(Job& job);

}  // namespace uctrace::merge
