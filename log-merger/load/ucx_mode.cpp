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
