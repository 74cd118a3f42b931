// Settings of a run, as far as its store tells them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "log-merger/diff/measures_parts.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace::diff {
namespace {

using nlohmann::ordered_json;
using summaries::member;
using summaries::text_of;

void add(std::vector<RunSetting>& settings, const char* name, const std::string& value) {
  settings.push_back({name, {{value.empty() ? std::nullopt : std::optional(value), {}}}});
}

std::string layers_text(const ordered_json& layers) {
  std::vector<std::string> texts;
  for (const auto& [name, layer] : layers.items()) {
    if (layer.is_object()) texts.push_back(name + " " + text_of(layer, "state"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string hosts_text(const Run& run) {
  constexpr std::size_t kNamed = 8;
  std::set<std::string> hosts;
  for (const Process& process : run.processes) hosts.insert(run.texts[process.host]);
  const std::size_t count = hosts.size();
  if (count > kNamed) return fmt::format("{} hosts", count);
  return fmt::format("{}", fmt::join(hosts, ", "));
}

}  // namespace

std::vector<RunSetting> run_settings(const Run& run) {
  const RunFacts facts = facts_of(run);
  const ordered_json info = summaries::parsed_info(run);
  const ordered_json& ucx = member(info, "ucx");
  std::vector<RunSetting> settings;
  add(settings, "command", facts.command);
  add(settings, "ranks", std::to_string(run.processes.size()));
  add(settings, "hosts", hosts_text(run));
  add(settings, "MPI", facts.mpi);
  add(settings, "UCX", facts.ucx);
  add(settings, "UCX mode", text_of(ucx, "mode"));
  add(settings, "UCX protocols", text_of(ucx, "protocols"));
  add(settings, "layers recorded", layers_text(member(info, "layers")));
  return settings;
}

}  // namespace uctrace::diff
