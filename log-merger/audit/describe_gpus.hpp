// The GPU part of `info`: the layer, the devices, the number of operations by memory, and memory
// that UCX took for something else than its driver says. Private to log-merger/.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

nlohmann::ordered_json gpu_layer_json(const Job& job);
nlohmann::ordered_json gpu_json(const Job& job);
// What GPU kernels may use directly; null: nothing. Their transfers cannot be seen.
nlohmann::ordered_json gpu_initiated_json(const Job& job);

// A note for each kind of memory that UCX took for something else.
void note_disagreements(Job& job);

}  // namespace uctrace::merge
