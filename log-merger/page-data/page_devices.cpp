#include "log-merger/page-data/page_devices.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json text_json(const Run& run, TextId id) {
  return id == kNoText ? ordered_json(nullptr) : ordered_json(run.texts[id]);
}

ordered_json known_json(std::int32_t number) {
  return number < 0 ? ordered_json(nullptr) : ordered_json(number);
}

ordered_json gpus_json(const Run& run) {
  ordered_json gpus = ordered_json::array();
  for (const Gpu& gpu : run.gpus) {
    gpus.push_back({{"host", run.texts[gpu.host]},
                    {"uuid", run.texts[gpu.uuid]},
                    {"bus", run.texts[gpu.bus]},
                    {"name", text_json(run, gpu.name)},
                    {"label", label_of(run, gpu)},
                    {"numa", known_json(gpu.numa)}});
  }
  return gpus;
}

ordered_json nics_json(const Run& run) {
  ordered_json nics = ordered_json::array();
  for (const Nic& nic : run.nics) {
    nics.push_back({{"host", run.texts[nic.host]},
                    {"device", run.texts[nic.device]},
                    {"bus", text_json(run, nic.bus)},
                    {"numa", known_json(nic.numa)}});
  }
  return nics;
}

ordered_json distances_json(const Run& run) {
  ordered_json distances = ordered_json::array();
  for (const GpuNic& pair : run.gpu_nic) {
    if (pair.gpu < 0 || pair.nic < 0 || pair.memory != MemoryKind::gpu) continue;
    distances.push_back({{"gpu", pair.gpu},
                         {"nic", pair.nic},
                         {"distance", name_of(pair.distance)},
                         {"numa_distance", known_json(pair.numa_distance)}});
  }
  return distances;
}

}  // namespace

ordered_json devices_json(const Run& run) {
  return {{"gpus", gpus_json(run)}, {"nics", nics_json(run)}, {"gpu_nic", distances_json(run)}};
}

}  // namespace uctrace
