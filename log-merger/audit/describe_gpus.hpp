// What `info` says of GPUs: the layer, the devices, how many operations use which memory, and where
// UCX took memory for something else than its driver says. Private to log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

nlohmann::ordered_json gpu_layer_json(const Job& job);
nlohmann::ordered_json gpu_json(const Job& job);
// What kernels on GPUs may use by themselves; null: nothing. What they move is not seen.
nlohmann::ordered_json gpu_initiated_json(const Job& job);

// What UCX took for something else, a note for each kind of that.
void note_disagreements(Job& job);

}  // namespace uctrace::merge
