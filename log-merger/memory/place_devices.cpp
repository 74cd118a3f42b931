#include "log-merger/memory/place_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "event-log/format/file_name.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/memory/topology.hpp"

namespace uctrace::merge {

namespace {

// A machine with 4,096 processors needs a tenth of that.
constexpr std::size_t kMostBytes = 64 << 20;

Topology read_topology(const std::filesystem::path& path) {
  const std::optional<std::string> text = log::read_text(path.string(), kMostBytes);
  if (!text) {
    throw Error({.what = "cannot read " + path.string(),
                 .why = "it is gone",
                 .to_do = "record the job again"});
  }
  return Topology::parse(*text);
}

// As in the name of the file beside its logs.
std::string node_of(const ProcessLog& log) {
  log::NamePart host;
  log::write_name_part(host, std::string(log.file.host()).c_str());
  return fmt::format("{}-{}", host, log.file.boot_id().substr(0, 8));
}

class Places {
 public:
  explicit Places(Job& job) : job_(job), run_(job.run) {
    for (const ProcessLog& log : job.logs) logs_[plain_text(log.file.host())].push_back(&log);
  }

  void find() {
    list_nics();
    for (const Gpu& gpu : run_.gpus) {
      if (!topologies_.contains(gpu.host)) topologies_[gpu.host] = open(gpu.host);
    }
    for (std::size_t i = 0; i < run_.gpus.size(); ++i) place_gpu(i);
    for (std::size_t i = 0; i < run_.nics.size(); ++i) place_nic(i);
    for (const auto& [host, devices] : devices_) {
      for (const Place& gpu : devices.gpus) {
        for (const Place& nic : devices.nics) add_pair(host, gpu, nic);
      }
    }
  }

 private:
  // A GPU or a card in its node; nothing if that is not known.
  struct Place {
    std::size_t row;
    std::optional<Topology::Device> device;
  };
  struct Devices {
    std::vector<Place> gpus, nics;
  };

  void list_nics() {
    for (const auto& [host, logs] : logs_) {
      std::map<std::string, Nic> nics;
      for (const ProcessLog* log : logs) {
        for (const Interface& interface : log->interfaces) {
          if (interface.device_type != log::DeviceType::network) continue;
          Nic& nic = nics[run_.texts[interface.device]];
          nic.host = run_.texts.intern(host);
          nic.device = interface.device;
        }
      }
      for (const auto& [name, nic] : nics) run_.nics.push_back(nic);
    }
  }

  // The topology of a host, or in Findings why it has none.
  std::optional<Topology> open(TextId host) {
    HostTopology& found = job_.findings.topologies.emplace_back();
    found.host = run_.texts[host];
    std::set<std::string> nodes;
    for (const ProcessLog* log : logs_[found.host]) nodes.insert(node_of(*log));
    if (nodes.size() > 1) {
      found.why = "several nodes have this name";
      return std::nullopt;
    }
    for (const TopologyFile& file : job_.topologies) {
      if (!nodes.contains(file.node)) continue;
      if (!file.finished) {
        found.why = "it was begun and not finished";
        continue;
      }
      try {
        Topology topology = read_topology(file.path);
        found.why.clear();
        return topology;
      } catch (const log::FileError& error) {
        found.why = plain_text(error.problem().what + ": " + error.problem().why);
        note_unreadable(run_, file.path.filename().string(), error);
      } catch (const Error& error) {
        found.why = plain_text(error.problem().what + ": " + error.problem().why);
      }
    }
    why_not_taken(found);
    return std::nullopt;
  }

  // A statement of a process of the host is better than the state of the file.
  void why_not_taken(HostTopology& found) {
    for (const ProcessLog* log : logs_[found.host]) {
      for (const auto& [fault, detail] : log->faults) {
        if (static_cast<log::FaultCode>(fault.head.a) == log::FaultCode::topology_not_taken) {
          found.why = detail;
        }
      }
    }
    if (found.why.empty()) {
      found.why =
          "no process of this host took it: uctrace was built without hwloc, the job was not "
          "started by `uctrace record`, or no thread could be started for it";
    }
  }

  void place_gpu(std::size_t row) {
    Gpu& gpu = run_.gpus[row];
    const auto& topology = topologies_.at(gpu.host);
    Place place{row, topology ? topology->at_bus(run_.texts[gpu.bus]) : std::nullopt};
    if (place.device) gpu.numa = topology->numa_node_of(*place.device);
    devices_[gpu.host].gpus.push_back(place);
  }

  // UCT names a port of a card mlx5_0:1.
  void place_nic(std::size_t row) {
    Nic& nic = run_.nics[row];
    Place place{row, std::nullopt};
    const auto topology = topologies_.find(nic.host);
    if (topology != topologies_.end() && topology->second) {
      const std::string& name = run_.texts[nic.device];
      place.device = topology->second->named(name.substr(0, name.find(':')));
    }
    if (place.device) {
      nic.numa = topology->second->numa_node_of(*place.device);
      nic.bus = run_.texts.intern(topology->second->bus_of(*place.device));
    }
    devices_[nic.host].nics.push_back(place);
  }

  void add_pair(TextId host, const Place& gpu, const Place& nic) {
    GpuNic pair;
    pair.host = host;
    pair.memory = MemoryKind::gpu;
    pair.gpu = static_cast<std::int32_t>(gpu.row);
    pair.nic = static_cast<std::int32_t>(nic.row);
    if (gpu.device && nic.device) {
      const Topology& topology = *topologies_.at(host);
      pair.distance = topology.distance(*gpu.device, *nic.device);
      pair.numa_distance = topology.numa_distance(run_.gpus[gpu.row].numa, run_.nics[nic.row].numa);
    }
    run_.gpu_nic.push_back(pair);
  }

  Job& job_;
  Run& run_;
  std::map<std::string, std::vector<const ProcessLog*>> logs_;  // by host
  std::map<TextId, std::optional<Topology>> topologies_;        // of hosts with GPUs
  std::map<TextId, Devices> devices_;                           // by host
};

}  // namespace

void place_devices(Job& job) { Places(job).find(); }

}  // namespace uctrace::merge
