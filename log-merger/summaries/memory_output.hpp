// Names for places of memory in reports and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/model/model.hpp"

namespace uctrace {

// Memory of a GPU, even if the host can reach it, too.
inline bool is_device_memory(MemoryPlace place) {
  return place.kind == MemoryKind::gpu || place.kind == MemoryKind::managed;
}

// {"kind": ..., "gpu": "node1/GPU-..." or null, "bus": ... or null}.
nlohmann::ordered_json memory_json(const Run& run, MemoryPlace place);

// The same in one word or two: "host", "gpu node1/GPU-...".
std::string memory_field(const Run& run, MemoryPlace place);

// "host memory", "GPU 0000:10:00.0", "managed memory of GPU 0000:10:00.0", "unknown memory".
std::string memory_text(const Run& run, MemoryPlace place);

// The same with the identity of the GPU: "GPU 0000:10:00.0 of node1 (GPU-..., H100)".
std::string full_memory_text(const Run& run, MemoryPlace place);

}  // namespace uctrace
