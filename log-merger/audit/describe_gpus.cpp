#include "log-merger/audit/describe_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "device-attributor/vendor-facts/beliefs.hpp"
#include "log-merger/audit/describe_faults.hpp"
#include "log-merger/audit/totals.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/model/kernel_access_totals.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;
using Kind = log::DeviceMemoryKind;

const ProcessLog& log_of(const Job& job, const UcpOp& op) { return job.logs[op.process]; }

using gpu::Reach;

Reach reach_of(MemoryPlace place) {
  switch (place.kind) {
    case MemoryKind::host:
      return Reach::host;
    case MemoryKind::gpu:
      return Reach::device;
    case MemoryKind::managed:
      return Reach::managed;
    default:
      return Reach::unknown;
  }
}

const char* source_name(log::BeliefFrom from) {
  static constexpr const char* kNames[] = {"none", "cache", "detection", "caller"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(log::BeliefFrom::kCount));
  return kNames[static_cast<std::size_t>(from)];
}

// Memory that UCX took for something else.
struct Disagreement {
  std::string memory;  // as in /device_memory, or host
  log::Belief believed = log::Belief::not_asked;
  log::BeliefFrom from = log::BeliefFrom::none;
  TextId bus = kNoText, believed_bus = kNoText;  // if it took it for another device's
  auto operator<=>(const Disagreement&) const = default;
};

struct Extent {
  std::uint64_t operations = 0, bytes = 0;
  MessageIndex message;  // the first
};

// 0000:10:00.0 without the function, which is always 0 for UCX's devices.
std::string_view without_function(std::string_view bus) { return bus.substr(0, bus.rfind('.')); }

bool is_same_bus(const Job& job, TextId one, TextId other) {
  return without_function(job.run.texts[one]) == without_function(job.run.texts[other]);
}

// The bus of the device to which UCX attributed memory, if that is not its GPU.
TextId other_bus(const Job& job, const UcpOp& op, MemoryPlace place) {
  const auto& buses = log_of(job, op).devices.ucx_device_buses;
  const auto believed = buses.find(op.memory.believed_device);
  const bool known = place.gpu != kNone && believed != buses.end() &&
                     op.memory.believed_device != log::OperationMemory::kNoDevice;
  return known && !is_same_bus(job, believed->second,
                               job.run.gpus[static_cast<std::size_t>(place.gpu)].bus)
             ? believed->second
             : kNoText;
}

// An accepted UCP operation of the program with a buffer.
bool uses_buffer(const UcpOp& op) { return !op.tool && op.has_buffer() && op.accepted(); }

// Collects look(op, found) over the operations of each process, processes in parallel.
template <typename Found, typename Look>
std::vector<Found> found_by_process(const Job& job, Look look) {
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  std::vector<Found> found(spans.size());
  job.workers.each(spans.size(), [&](std::size_t i) {
    for (std::size_t op = spans[i].begin; op < spans[i].end; ++op) {
      if (uses_buffer(job.ucp[op])) look(job.ucp[op], found[i]);
    }
  });
  return found;
}

using MistakenMemory = std::map<Disagreement, Extent>;

void add_if_mistaken(const Job& job, const UcpOp& op, MistakenMemory& found) {
  const MemoryPlace place = place_of_buffer(log_of(job, op), op);
  const Reach real = reach_of(place), believed = gpu::facts_of(op.memory.believed).reach;
  if (real == Reach::unknown || believed == Reach::unknown) return;
  const TextId elsewhere = real == believed ? other_bus(job, op, place) : kNoText;
  if (real == believed && elsewhere == kNoText) return;
  const KnownMemory* memory = log_of(job, op).devices.find(op.memory.own);
  Disagreement key;
  key.memory =
      memory == nullptr
          ? "host"
          : job.run.texts[job.run.device_memory[static_cast<std::size_t>(memory->row)].kind];
  key.believed = op.memory.believed;
  key.from = op.memory.believed_from;
  if (elsewhere != kNoText) {
    key.bus = job.run.gpus[static_cast<std::size_t>(place.gpu)].bus;
    key.believed_bus = elsewhere;
  }
  Extent& extent = found[key];
  ++extent.operations;
  extent.bytes += op.bytes;
  if (extent.message == kNone) extent.message = op.message;
}

MistakenMemory find_mistaken_memory(const Job& job) {
  const auto look = [&](const UcpOp& op, MistakenMemory& found) {
    add_if_mistaken(job, op, found);
  };
  MistakenMemory all;
  for (const MistakenMemory& of_process : found_by_process<MistakenMemory>(job, look)) {
    for (const auto& [what, more] : of_process) {
      Extent& extent = all[what];
      extent.operations += more.operations;
      extent.bytes += more.bytes;
      if (extent.message == kNone) extent.message = more.message;
    }
  }
  return all;
}

Json text_json(const Job& job, TextId text) {
  return text == kNoText ? Json(nullptr) : Json(job.run.texts[text]);
}

Json disagreements_json(const Job& job) {
  Json list = Json::array();
  for (const auto& [what, extent] : find_mistaken_memory(job)) {
    list.push_back(
        {{"memory", what.memory},
         {"believed", name_of(what.believed)},
         {"believed_from", source_name(what.from)},
         {"bus", text_json(job, what.bus)},
         {"believed_bus", text_json(job, what.believed_bus)},
         {"operations", extent.operations},
         {"bytes", extent.bytes},
         {"message", extent.message == kNone ? Json(nullptr) : Json(extent.message.number())}});
  }
  return list;
}

Json devices_json(const Job& job) {
  Json list = Json::array();
  for (const Gpu& gpu : job.run.gpus) {
    list.push_back({{"host", job.run.texts[gpu.host]},
                    {"uuid", job.run.texts[gpu.uuid]},
                    {"gpu_uuid", job.run.texts[gpu.gpu_uuid]},
                    {"bus", job.run.texts[gpu.bus]},
                    {"name", text_json(job, gpu.name)},
                    {"vendor", text_json(job, gpu.vendor)},
                    {"bytes", gpu.memory_bytes},
                    {"numa", gpu.numa < 0 ? Json(nullptr) : Json(gpu.numa)}});
  }
  return list;
}

Json topology_json(const Job& job) {
  Json list = Json::array();
  for (const HostTopology& topology : job.findings.topologies) {
    list.push_back({{"host", topology.host},
                    {"taken", topology.why.empty()},
                    {"why", topology.why.empty() ? Json(nullptr) : Json(topology.why)}});
  }
  return list;
}

Json operations_json(const Job& job) {
  using Counts = std::map<MemoryKind, std::uint64_t>;
  const auto look = [&](const UcpOp& op, Counts& counts) {
    ++counts[place_of_buffer(log_of(job, op), op).kind];
  };
  Counts count;
  for (const Counts& of_process : found_by_process<Counts>(job, look)) {
    for (const auto& [kind, operations] : of_process) count[kind] += operations;
  }
  Json json;
  for (const MemoryKind kind :
       {MemoryKind::host, MemoryKind::gpu, MemoryKind::managed, MemoryKind::unknown}) {
    json[uctrace::name_of(kind)] = count[kind];
  }
  return json;
}

bool is_of_history(const log::Fault& fault) {
  return static_cast<log::FaultCode>(fault.head.a) == log::FaultCode::gpu_history_refused;
}

// "on" if all processes with a GPU driver had their allocations reported, except for drivers that
// cannot report them.
Json history_json(const Job& job) {
  constexpr int kNobodyTells = 0, kNotAllKept = 1;  // values of the fault
  bool wanted = false, refused = false, has_none = false;
  std::string by, why;
  for (const ProcessLog& log : job.logs) {
    wanted |= !log.devices.wanted_history.empty();
    if (by.empty()) by = log.devices.history;
    for (const auto& [fault, detail] : log.faults) {
      if (!is_of_history(fault)) continue;
      refused |= fault.value == kNobodyTells;
      has_none |= fault.value > kNotAllKept;
      if (why.empty()) {
        why = fault.value == kNotAllKept ? "not all that was told could be kept" : detail;
      }
    }
  }
  refused |= has_none && by.empty();
  if (why.empty() && by.empty() && wanted) why = "no process initialised a driver of GPUs";
  return {{"state", refused      ? "refused"
                    : by.empty() ? "off"
                                 : "on"},
          {"why", why.empty() ? Json(nullptr) : Json(why)},
          {"by", by.empty() ? Json(nullptr) : Json(by)}};
}

}  // namespace

// "on" if each present driver was asked. A driver that cannot be asked leaves a fault.
Json gpu_layer_json(const Job& job) {
  constexpr auto kLayer = static_cast<std::size_t>(log::Layer::gpu);
  bool asked = false, off = false, driver = false;
  std::string why;
  for (const ProcessLog& log : job.logs) {
    const auto& layers = log.file.page().layers;
    const bool has_driver = log.file.page().gpu_driver != 0;
    const bool has_ucp = layers[static_cast<std::size_t>(log::Layer::ucp)] == log::LayerState::on;
    asked |= !log.devices.drivers.empty();
    driver |= has_driver;
    // A process without UCX has nothing to ask.
    off |= log::is_off(layers[kLayer]) || (has_driver && has_ucp && log.devices.drivers.empty());
    for (const auto& [fault, detail] : log.faults) {
      const auto code = static_cast<log::FaultCode>(fault.head.a);
      const bool of_memory = fault.layer == log::Layer::gpu && !is_of_history(fault) &&
                             code != log::FaultCode::topology_not_taken;
      if (!of_memory || !why.empty()) continue;
      why = name_of(code);
      why += detail.empty() ? fmt::format(" ({})", fault.value) : fmt::format(": {}", detail);
    }
  }
  if (why.empty() && off) why = "a GPU driver is loaded, of which memory could not be asked";
  if (why.empty() && !asked && !driver) {
    why = "no GPU driver in any process: all memory is host memory";
  }
  return {{"state", off     ? "off"
                    : asked ? "on"
                            : "unused"},
          {"why", why.empty() ? Json(nullptr) : Json(why)}};
}

Json gpu_json(const Job& job) {
  const log::LaneCounters counted = count_counted(job);
  return {{"devices", devices_json(job)},       {"topology", topology_json(job)},
          {"operations", operations_json(job)}, {"memory", job.run.device_memory.size()},
          {"queries", counted.memory_queries},  {"unanswered", counted.memory_unknown},
          {"history", history_json(job)},       {"disagreements", disagreements_json(job)}};
}

void note_disagreements(Job& job) {
  for (const auto& [what, extent] : find_mistaken_memory(job)) {
    const Texts& texts = job.run.texts;
    const std::string mistake =
        what.bus != kNoText ? fmt::format("memory of the GPU at {} for that of the device at {}",
                                          texts[what.bus], texts[what.believed_bus])
        : what.memory == "host" ? fmt::format("memory that its driver does not know for {} memory",
                                              name_of(what.believed))
                                : fmt::format("{} memory of a GPU's driver for {} memory",
                                              what.memory, name_of(what.believed));
    job.run.notes.push_back(
        fmt::format("UCX took {}: {} operations, {} B{}", mistake, extent.operations, extent.bytes,
                    extent.message == kNone
                        ? ""
                        : fmt::format("; the first is message {}", extent.message.number())));
  }
}

Json gpu_initiated_json(const Job& job) {
  if (job.run.kernel_accesses.empty()) return nullptr;
  const KernelAccessTotals totals = totals_of(job.run);
  return {{"endpoints", totals.endpoints},
          {"buffers", totals.buffers},
          {"bytes", totals.bytes},
          {"moved_bytes", nullptr}};
}

}  // namespace uctrace::merge
