// Settings that differ between the processes of a job.
#include "log-merger/summaries/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "log-merger/findings/rules.hpp"

namespace uctrace::findings {
namespace {

constexpr std::size_t kShownValues = 3;

std::string have(const Run& run, const ProcessList& processes) {
  return processes_text(run, processes) + (processes.size() == 1 ? " has" : " have");
}

// "rank 3 has UCX_TLS=tcp, all others none": the common value, or none, comes last.
std::string sentence(const Run& run, const SettingOfRun& setting) {
  const std::string& name = run.texts[setting.name];
  const bool none_is_common =
      !setting.unset.empty() && setting.unset.size() >= setting.values.front().processes.size();
  std::vector<std::string> parts;
  const std::size_t first = none_is_common ? 0 : 1;
  for (std::size_t i = first; i < std::min(setting.values.size(), first + kShownValues); ++i) {
    const SettingValue& value = setting.values[i];
    parts.push_back(
        fmt::format("{} {}={}", have(run, value.processes), name, run.texts[value.value]));
  }
  const bool all_shown = setting.values.size() <= first + kShownValues;
  if (!all_shown) {
    parts.push_back(fmt::format("{} more values", setting.values.size() - first - kShownValues));
  }
  if (none_is_common) {
    parts.push_back(all_shown ? "all others none" : "others none");
  } else {
    if (!setting.unset.empty()) parts.push_back(have(run, setting.unset) + " none");
    parts.push_back(fmt::format("{} {}={}", all_shown ? "all others have" : "others have", name,
                                run.texts[setting.values.front().value]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// For processes in which UCX opened something.
void transports_differ(const Facts& facts, Found& found) {
  ProcessList users;
  const std::vector<OpenedTransport> transports = opened_transports(facts.run);
  for (const OpenedTransport& transport : transports) {
    users.insert(users.end(), transport.processes.begin(), transport.processes.end());
  }
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());
  for (const OpenedTransport& transport : transports) {
    ProcessList without;
    std::set_difference(users.begin(), users.end(), transport.processes.begin(),
                        transport.processes.end(), std::back_inserter(without));
    if (without.empty()) continue;
    const std::string& name = facts.run.texts[transport.transport];
    const bool few_without = without.size() <= transport.processes.size();
    found.push_back({.rule = "transports-differ",
                     .what = few_without
                                 ? fmt::format("UCX opened no {} in {}, but in the other processes",
                                               name, processes_text(facts.run, without))
                                 : fmt::format("UCX opened {} in {} only", name,
                                               processes_text(facts.run, transport.processes)),
                     .advice = "compare their settings, devices and containers",
                     .command = "info --list settings",
                     .evidence = {{"transport", name},
                                  {"with", transport.processes.size()},
                                  {"without", without.size()}}});
  }
}

}  // namespace

void settings_differ(const Facts& facts, Found& found) {
  bool of_ucx = false;
  for (const SettingOfRun& setting : settings_of(facts.run)) {
    if (!setting.differs() || setting.numbers_processes()) continue;
    const std::string& name = facts.run.texts[setting.name];
    of_ucx = of_ucx || name.starts_with("UCX_");
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const SettingValue& value : setting.values) {
      values.push_back({{"value", facts.run.texts[value.value]},
                        {"of", processes_text(facts.run, value.processes)},
                        {"processes", value.processes.size()}});
    }
    found.push_back({.rule = "settings-differ",
                     .what = sentence(facts.run, setting),
                     .advice =
                         "unless you mean it, set it for all: `-x NAME` of Open MPI, -genv of "
                         "MPICH, --export of srun",
                     .command = "info --list settings",
                     .evidence = {{"name", name},
                                  {"from", name_of(setting.from)},
                                  {"values", std::move(values)},
                                  {"unset", setting.unset.size()}}});
  }
  // Otherwise this is the reason.
  if (!of_ucx) transports_differ(facts, found);
}

}  // namespace uctrace::findings
