#include "log-merger/load/ucx_mode.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace uctrace::merge {

using Json = nlohmann::ordered_json;

Json ucx_mode(const Job& job) {
  bool stock = false, rebuilt = false;
  for (const ProcessLog& log : job.logs) {
    for (const UctLibrary& library : log.uct_libraries) {
      (library.is_rebuilt ? rebuilt : stock) = true;
    }
  }
  if (stock && rebuilt) return "mixed";
  return rebuilt ? Json("rebuilt") : stock ? Json("stock") : Json(nullptr);
}

Json ucp_libraries_json(const Job& job) {
  struct Use {
    std::uint64_t processes = 0, workers = 0, operations = 0;
  };
  using Key = std::pair<std::string, std::string>;
  const auto as_key = [&](const UcpLibrary& library) {
    return Key(job.run.texts[library.path], library.version);
  };
  std::map<Key, Use> uses;
  for (const ProcessLog& log : job.logs) {
    const auto key_of = [&](const Worker& worker) {
      const auto found = log.ucp_libraries.find(worker.library);
      return found == log.ucp_libraries.end() ? Key() : as_key(found->second);
    };
    std::set<Key> seen;  // also UCXs left alone because their version is not known
    for (const auto& [number, library] : log.ucp_libraries) seen.insert(as_key(library));
    for (const Worker& worker : log.workers) seen.insert(key_of(worker));
    for (const Key& key : seen) ++uses[key].processes;
    for (const Worker& worker : log.workers) {
      Use& use = uses[key_of(worker)];
      ++use.workers;
      use.operations += worker.operations;
    }
    for (const UcpEndpoint& endpoint : log.ucp_endpoints) {
      const auto worker = log.worker_at(endpoint.worker, endpoint.tick);
      if (worker != kNone) uses[key_of(log.workers[worker])].operations += endpoint.operations;
    }
  }
  Json list = Json::array();
  for (const auto& [library, use] : uses) {
    const auto or_null = [](const std::string& text) {
      return text.empty() ? Json(nullptr) : Json(text);
    };
    list.push_back({{"path", or_null(library.first)},
                    {"version", or_null(library.second)},
                    {"processes", use.processes},
                    {"workers", use.workers},
                    {"operations", use.operations}});
  }
  return list;
}

Json uct_libraries_json(const Job& job) {
  std::map<std::pair<std::string, bool>, std::uint64_t> processes;
  for (const ProcessLog& log : job.logs) {
    std::set<std::pair<std::string, bool>> seen;
    for (const UctLibrary& library : log.uct_libraries) {
      if (seen.insert({library.path, library.is_rebuilt}).second) {
        ++processes[{library.path, library.is_rebuilt}];
      }
    }
  }
  Json list = Json::array();
  for (const auto& [library, count] : processes) {
    list.push_back({{"path", library.first},
                    {"mode", library.second ? "rebuilt" : "stock"},
                    {"processes", count}});
  }
  return list;
}

}  // namespace uctrace::merge
