#include "log-merger/audit/describe_libraries.hpp"

#include <map>
#include <string>
#include <utility>

namespace uctrace::merge {

// One for each library and what it says of itself, by name.
nlohmann::ordered_json libraries_json(const Job& job) {
  struct Use {
    std::uint64_t calls = 0, processes = 0;
  };
  std::map<std::pair<std::string, std::string>, Use> uses;
  for (const ProcessLog& log : job.logs) {
    const LibraryCalls& of = log.library_calls;
    std::map<std::uint64_t, std::uint64_t> calls;
    for (const LibraryCall& call : of.calls) ++calls[LibraryCalls::number_of(call)];
    for (const auto& [number, name] : of.libraries) {
      Use& use = uses[{job.run.texts[name], job.run.texts[of.versions.at(number)]}];
      use.calls += calls[number];
      ++use.processes;
    }
  }
  auto json = nlohmann::ordered_json::array();
  for (const auto& [name, use] : uses) {
    json.push_back({{"library", name.first},
                    {"version", name.second.empty() ? nlohmann::ordered_json(nullptr)
                                                    : nlohmann::ordered_json(name.second)},
                    {"calls", use.calls},
                    {"processes", use.processes}});
  }
  return json;
}

}  // namespace uctrace::merge
