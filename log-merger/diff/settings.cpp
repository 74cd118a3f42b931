// Settings of a run, and those that each of its processes was started with (summaries/settings.hpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "log-merger/diff/measures_parts.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/run_facts.hpp"
#include "log-merger/summaries/settings.hpp"

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

// Of processes that have one.
std::vector<std::int64_t> ranks_of(const Run& run, const ProcessList& processes) {
  std::vector<std::int64_t> ranks;
  for (const std::int64_t process : processes) {
    const std::int32_t rank = run.processes[static_cast<std::size_t>(process)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranks;
}

// The settings that each process was started with. The environment and a file may have the same
// name.
void add_process_settings(std::vector<RunSetting>& settings, const Run& run) {
  for (const SettingOfRun& setting : settings_of(run)) {
    if (setting.numbers_processes()) continue;
    RunSetting added{run.texts[setting.name], {}};
    if (setting.from == SettingFrom::mpi_file || setting.from == SettingFrom::ucx_file) {
      added.name += " (in a file)";
    }
    for (const SettingValue& value : setting.values) {
      added.values.push_back(
          {run.texts[value.value],
           setting.differs() ? ranks_of(run, value.processes) : std::vector<std::int64_t>{}});
    }
    if (!setting.unset.empty()) {
      added.values.push_back({std::nullopt, ranks_of(run, setting.unset)});
    }
    settings.push_back(std::move(added));
  }
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
  add_process_settings(settings, run);
  return settings;
}

}  // namespace uctrace::diff
