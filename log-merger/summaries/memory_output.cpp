#include "log-merger/summaries/memory_output.hpp"

#include <fmt/format.h>

namespace uctrace {
namespace {

// nullptr: none, or not known.
const Gpu* gpu_of(const Run& run, MemoryPlace place) {
  return place.gpu < 0 ? nullptr : &run.gpus[static_cast<std::size_t>(place.gpu)];
}

// `gpu`: how it is called.
std::string memory_words(MemoryPlace place, const std::string& gpu) {
  switch (place.kind) {
    case MemoryKind::host:
      return "host memory";
    case MemoryKind::gpu:
      return gpu.empty() ? "memory of a GPU" : gpu;
    case MemoryKind::managed:
      return gpu.empty() ? "managed memory" : "managed memory of " + gpu;
    case MemoryKind::unknown:
      break;
  }
  return "unknown memory";
}

}  // namespace

nlohmann::ordered_json memory_json(const Run& run, MemoryPlace place) {
  using Json = nlohmann::ordered_json;
  const Gpu* gpu = gpu_of(run, place);
  return {{"kind", name_of(place.kind)},
          {"gpu", gpu == nullptr ? Json(nullptr) : Json(label_of(run, *gpu))},
          {"bus", gpu == nullptr ? Json(nullptr) : Json(run.texts[gpu->bus])}};
}

std::string memory_field(const Run& run, MemoryPlace place) {
  const Gpu* gpu = gpu_of(run, place);
  return gpu == nullptr ? std::string(name_of(place.kind))
                        : fmt::format("{} {}", name_of(place.kind), label_of(run, *gpu));
}

std::string memory_text(const Run& run, MemoryPlace place) {
  const Gpu* gpu = gpu_of(run, place);
  return memory_words(place, gpu == nullptr ? "" : "GPU " + run.texts[gpu->bus]);
}

std::string full_memory_text(const Run& run, MemoryPlace place) {
  const Gpu* gpu = gpu_of(run, place);
  if (gpu == nullptr) return memory_words(place, "");
  const std::string& name = run.texts[gpu->name];
  return memory_words(
      place, fmt::format("GPU {} of {} ({}{}{})", run.texts[gpu->bus], run.texts[gpu->host],
                         run.texts[gpu->uuid], name.empty() ? "" : ", ", name));
}

}  // namespace uctrace
